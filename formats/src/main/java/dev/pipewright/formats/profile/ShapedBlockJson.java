package dev.pipewright.formats.profile;

import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.model.Operator.ShapedBlock;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A transformer's block of any shape as an object of a profile: its parts are objects, each with
 * its {@code kind} and the sizes of that kind.
 */
final class ShapedBlockJson {
  /** The fields of the block itself. */
  static final List<String> KEYS =
      List.of(
          "hidden",
          "sequence",
          "causal",
          "positions",
          "attention",
          "span",
          "feed_forward",
          "norm",
          "norms",
          "cross_attention");

  private static final List<String> GROUPED =
      List.of(
          "heads",
          "key_value_heads",
          "head_width",
          "input_biases",
          "output_bias",
          "query_key_norm",
          "sinks");
  private static final List<String> LATENT =
      List.of(
          "heads",
          "query_rank",
          "key_value_rank",
          "plain_width",
          "rotary_width",
          "value_width",
          "biases",
          "latent_norms");
  private static final List<String> DENSE = List.of("width", "gated", "biases");
  private static final List<String> MIXTURE =
      List.of("experts", "chosen", "expert", "router_bias", "shared", "shared_gate");
  private static final Map<String, QueryKeyNorm> QUERY_KEY_NORMS =
      EnumWords.of(QueryKeyNorm.values());
  private static final Map<String, NormShape> NORMS = EnumWords.of(NormShape.values());

  private ShapedBlockJson() {}

  /** The block's fields in the order of {@link #KEYS}. */
  static Object[] write(ShapedBlock block) {
    LayerShape shape = block.shape();
    return new Object[] {
      block.hidden(),
      block.sequence(),
      block.causal(),
      write(block.positions()),
      write(shape.attention()),
      write(shape.span()),
      write(shape.feedForward()),
      EnumWords.word(shape.norm()),
      shape.norms(),
      shape.crossAttention()
    };
  }

  private static Map<String, Object> write(Positions positions) {
    return switch (positions) {
      case Positions.Rotary() -> object("rotary", List.of());
      case Positions.Learned(int rows) -> object("learned", List.of("rows"), rows);
      case Positions.Relative(int buckets) -> object("relative", List.of("buckets"), buckets);
      case Positions.Fixed() -> object("fixed", List.of());
    };
  }

  private static Map<String, Object> write(AttentionSpan span) {
    return switch (span) {
      case AttentionSpan.Full() -> object("full", List.of());
      case AttentionSpan.Window(int tokens) -> object("window", List.of("tokens"), tokens);
      case AttentionSpan.Chunk(int tokens) -> object("chunk", List.of("tokens"), tokens);
    };
  }

  private static Map<String, Object> write(AttentionShape attention) {
    return switch (attention) {
      case GroupedQuery a ->
          object(
              "grouped_query",
              GROUPED,
              a.heads(),
              a.keyValueHeads(),
              a.headWidth(),
              a.inputBiases(),
              a.outputBias(),
              EnumWords.word(a.norm()),
              a.sinks());
      case Latent a -> {
        Map<String, Object> object =
            object(
                "latent",
                LATENT,
                a.heads(),
                a.queryRank().orElse(0),
                a.keyValueRank(),
                a.plainWidth(),
                a.rotaryWidth(),
                a.valueWidth(),
                a.biases(),
                a.latentNorms());
        if (a.queryRank().isEmpty()) {
          object.remove("query_rank");
        }
        yield object;
      }
    };
  }

  private static Map<String, Object> write(FeedForwardShape part) {
    return switch (part) {
      case Dense dense -> dense(dense);
      case Mixture m -> {
        Map<String, Object> object =
            object(
                "mixture",
                MIXTURE,
                m.experts(),
                m.chosen(),
                dense(m.expert()),
                m.routerBias(),
                m.shared().map(ShapedBlockJson::dense).orElse(Map.of()),
                m.sharedGate());
        if (m.shared().isEmpty()) {
          object.remove("shared");
        }
        yield object;
      }
    };
  }

  private static Map<String, Object> dense(Dense dense) {
    return object("dense", DENSE, dense.width(), dense.gated(), dense.biases());
  }

  private static Map<String, Object> object(String kind, List<String> keys, Object... values) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("kind", kind);
    for (int i = 0; i < values.length; i++) {
      object.put(keys.get(i), values[i]);
    }
    return object;
  }

  /** Throws {@code BadInputException} where sizes are wrong or do not go together. */
  static ShapedBlock read(Fields f) {
    Node feedForward = f.required("feed_forward");
    Node attention = f.required("attention");
    Node norms = f.required("norms");
    FeedForwardShape part = feedForward(feedForward);
    AttentionShape heads = attention(attention);
    LayerShape shape =
        norms.checked(() ->
            new LayerShape(
                heads,
                span(f.required("span")),
                part,
                f.required("norm").word(NORMS),
                norms.count(0),
                f.required("cross_attention").flag()));
    return new ShapedBlock(
        shape,
        f.required("hidden").count(1),
        f.required("sequence").count(1),
        f.required("causal").flag(),
        positions(f.required("positions")));
  }

  private static Positions positions(Node node) {
    return switch (kind(node, "rotary", "learned", "relative", "fixed")) {
      case "rotary" -> {
        fields(node, List.of());
        yield new Positions.Rotary();
      }
      case "learned" -> node.checked(() -> new Positions.Learned(size(node, "rows")));
      case "relative" -> node.checked(() -> new Positions.Relative(size(node, "buckets")));
      default -> {
        fields(node, List.of());
        yield new Positions.Fixed();
      }
    };
  }

  private static AttentionSpan span(Node node) {
    return switch (kind(node, "full", "window", "chunk")) {
      case "window" -> node.checked(() -> new AttentionSpan.Window(size(node, "tokens")));
      case "chunk" -> node.checked(() -> new AttentionSpan.Chunk(size(node, "tokens")));
      default -> {
        fields(node, List.of());
        yield new AttentionSpan.Full();
      }
    };
  }

  private static int size(Node node, String key) {
    return fields(node, List.of(key)).required(key).count(1);
  }

  private static AttentionShape attention(Node node) {
    if (kind(node, "grouped_query", "latent").equals("latent")) {
      Fields f = fields(node, LATENT);
      OptionalInt rank =
          f.optional("query_rank")
              .map(value -> OptionalInt.of(value.count(1)))
              .orElse(OptionalInt.empty());
      return node.checked(() ->
          new Latent(
              f.required("heads").count(1),
              rank,
              f.required("key_value_rank").count(1),
              f.required("plain_width").count(1),
              f.required("rotary_width").count(1),
              f.required("value_width").count(1),
              f.required("biases").flag(),
              f.required("latent_norms").flag()));
    }
    Fields f = fields(node, GROUPED);
    return node.checked(() ->
        new GroupedQuery(
            f.required("heads").count(1),
            f.required("key_value_heads").count(1),
            f.required("head_width").count(1),
            f.required("input_biases").flag(),
            f.required("output_bias").flag(),
            f.required("query_key_norm").word(QUERY_KEY_NORMS),
            f.required("sinks").flag()));
  }

  private static FeedForwardShape feedForward(Node node) {
    if (kind(node, "dense", "mixture").equals("dense")) {
      return dense(node);
    }
    Fields f = fields(node, MIXTURE);
    Dense expert = dense(f.required("expert"));
    Optional<Dense> shared = f.optional("shared").map(ShapedBlockJson::dense);
    return node.checked(() ->
        new Mixture(
            f.required("experts").count(1),
            f.required("chosen").count(1),
            expert,
            f.required("router_bias").flag(),
            shared,
            f.required("shared_gate").flag()));
  }

  private static Dense dense(Node node) {
    kind(node, "dense");
    Fields f = fields(node, DENSE);
    return node.checked(() ->
        new Dense(
            f.required("width").count(1), f.required("gated").flag(), f.required("biases").flag()));
  }

  private static String kind(Node node, String... kinds) {
    Map<String, String> known = new LinkedHashMap<>();
    for (String kind : kinds) {
      known.put(kind, kind);
    }
    return node.object().required("kind").word(known);
  }

  private static Fields fields(Node node, List<String> keys) {
    List<String> all = new ArrayList<>(List.of("kind"));
    all.addAll(keys);
    return node.object(all);
  }
}

package dev.pipewright.formats.profile;

import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.model.Operator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An operator as an object of a profile: its {@code kind} and the fields of that kind. */
final class OperatorJson {
  private static final Map<String, List<String>> KEYS = new LinkedHashMap<>();

  static {
    KEYS.put("input", List.of());
    KEYS.put("tokens", List.of("vocabulary"));
    KEYS.put(
        "convolution",
        List.of(
            "in_channels",
            "out_channels",
            "kernel",
            "stride",
            "padding",
            "dilation",
            "groups",
            "bias"));
    KEYS.put("linear", List.of("in", "out", "bias"));
    KEYS.put("normalization", List.of("over", "features"));
    KEYS.put("pooling", List.of("take", "kernel", "stride", "padding"));
    KEYS.put("elementwise", List.of("function"));
    KEYS.put("concatenation", List.of());
    KEYS.put("embedding", List.of("vocabulary", "features"));
    KEYS.put("positions", List.of("steps", "features"));
    KEYS.put("segments", List.of("segments", "features"));
    KEYS.put("class_token", List.of("features"));
    KEYS.put("mask", List.of("sequence"));
    KEYS.put("tied_scores", List.of("layer"));
    KEYS.put("attention", List.of("hidden", "heads", "sequence"));
    KEYS.put("lstm", List.of("in", "hidden", "bidirectional", "sequence"));
    KEYS.put("attention_lstm", List.of("vocabulary", "hidden"));
    KEYS.put("residual", List.of("features"));
    KEYS.put("carried", List.of("features"));
    KEYS.put(
        "transformer_block", List.of("hidden", "heads", "sequence", "causal", "normalized_first"));
    KEYS.put("shaped_block", ShapedBlockJson.KEYS);
    KEYS.put("block", List.of("name"));
    KEYS.put("recorded", List.of("description"));
  }

  private static final Map<String, Operator.Normalization.Kind> OVER =
      EnumWords.of(Operator.Normalization.Kind.values());
  private static final Map<String, Operator.Pooling.Kind> TAKE =
      EnumWords.of(Operator.Pooling.Kind.values());

  private OperatorJson() {}

  static Map<String, Object> write(Operator operator) {
    return switch (operator) {
      case Operator.Input() -> object("input");
      case Operator.Tokens(int vocabulary) -> object("tokens", vocabulary);
      case Operator.Convolution c ->
          object(
              "convolution",
              c.inChannels(),
              c.outChannels(),
              c.kernel(),
              c.stride(),
              c.padding(),
              c.dilation(),
              c.groups(),
              c.bias());
      case Operator.Linear(int in, int out, boolean bias) -> object("linear", in, out, bias);
      case Operator.Normalization(var over, int features) ->
          object("normalization", EnumWords.word(over), features);
      case Operator.Pooling(var take, var kernel, var stride, var padding) ->
          object("pooling", EnumWords.word(take), kernel, stride, padding);
      case Operator.Elementwise(String function) -> object("elementwise", function);
      case Operator.Concatenation() -> object("concatenation");
      case Operator.Embedding(int vocabulary, int features) ->
          object("embedding", vocabulary, features);
      case Operator.Positions(int steps, int features) -> object("positions", steps, features);
      case Operator.Segments(int segments, int features) -> object("segments", segments, features);
      case Operator.ClassToken(int features) -> object("class_token", features);
      case Operator.Mask(int sequence) -> object("mask", sequence);
      case Operator.TiedScores(String layer) -> object("tied_scores", layer);
      case Operator.TiedEmbedding(String layer) -> object("tied_embedding", layer);
      case Operator.Attention(int hidden, int heads, int sequence) ->
          object("attention", hidden, heads, sequence);
      case Operator.Lstm(int in, int hidden, boolean bidirectional, int sequence) ->
          object("lstm", in, hidden, bidirectional, sequence);
      case Operator.AttentionLstm(int vocabulary, int hidden) ->
          object("attention_lstm", vocabulary, hidden);
      case Operator.Residual(int features) -> object("residual", features);
      case Operator.Carried(int features) -> object("carried", features);
      case Operator.TransformerBlock b ->
          object(
              "transformer_block",
              b.hidden(),
              b.heads(),
              b.sequence(),
              b.causal(),
              b.normalizedFirst());
      case Operator.ShapedBlock b -> object("shaped_block", ShapedBlockJson.write(b));
      case Operator.Block(String kind) -> object("block", kind);
      case Operator.Recorded(String description) -> object("recorded", description);
    };
  }

  /** {@code values} in the order of the kind's keys. */
  private static Map<String, Object> object(String kind, Object... values) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("kind", kind);
    List<String> keys = KEYS.getOrDefault(kind, List.of());
    for (int i = 0; i < values.length; i++) {
      object.put(keys.get(i), values[i]);
    }
    return object;
  }

  static Operator read(Node node) {
    Map<String, String> kinds = new LinkedHashMap<>();
    KEYS.keySet().forEach(kind -> kinds.put(kind, kind));
    String kind = node.object().required("kind").word(kinds);
    List<String> own = new ArrayList<>(List.of("kind"));
    own.addAll(KEYS.getOrDefault(kind, List.of()));
    return read(kind, node.object(own));
  }

  private static Operator read(String kind, Fields f) {
    return switch (kind) {
      case "input" -> new Operator.Input();
      case "tokens" -> new Operator.Tokens(f.required("vocabulary").count(1));
      case "convolution" ->
          new Operator.Convolution(
              f.required("in_channels").count(1),
              f.required("out_channels").count(1),
              f.counts("kernel", 1),
              f.counts("stride", 1),
              f.counts("padding", 0),
              f.counts("dilation", 1),
              f.required("groups").count(1),
              f.required("bias").flag());
      case "linear" ->
          new Operator.Linear(
              f.required("in").count(1), f.required("out").count(1), f.required("bias").flag());
      case "normalization" ->
          new Operator.Normalization(
              f.required("over").word(OVER), f.required("features").count(1));
      case "pooling" ->
          new Operator.Pooling(
              f.required("take").word(TAKE),
              f.counts("kernel", 1),
              f.counts("stride", 1),
              f.counts("padding", 0));
      case "elementwise" -> new Operator.Elementwise(f.required("function").text());
      case "concatenation" -> new Operator.Concatenation();
      case "embedding" ->
          new Operator.Embedding(
              f.required("vocabulary").count(1), f.required("features").count(1));
      case "positions" ->
          new Operator.Positions(f.required("steps").count(1), f.required("features").count(1));
      case "segments" ->
          new Operator.Segments(f.required("segments").count(1), f.required("features").count(1));
      case "class_token" -> new Operator.ClassToken(f.required("features").count(1));
      case "mask" -> new Operator.Mask(f.required("sequence").count(1));
      case "tied_scores" -> new Operator.TiedScores(f.required("layer").text());
      case "tied_embedding" -> new Operator.TiedEmbedding(f.required("layer").text());
      case "attention" ->
          new Operator.Attention(
              f.required("hidden").count(1),
              f.required("heads").count(1),
              f.required("sequence").count(1));
      case "lstm" ->
          new Operator.Lstm(
              f.required("in").count(1),
              f.required("hidden").count(1),
              f.required("bidirectional").flag(),
              f.required("sequence").count(1));
      case "attention_lstm" ->
          new Operator.AttentionLstm(
              f.required("vocabulary").count(1), f.required("hidden").count(1));
      case "residual" -> new Operator.Residual(f.required("features").count(1));
      case "carried" -> new Operator.Carried(f.required("features").count(1));
      case "transformer_block" ->
          new Operator.TransformerBlock(
              f.required("hidden").count(1),
              f.required("heads").count(1),
              f.required("sequence").count(1),
              f.required("causal").flag(),
              f.required("normalized_first").flag());
      case "shaped_block" -> ShapedBlockJson.read(f);
      case "block" -> new Operator.Block(f.required("name").text());
      case "recorded" -> new Operator.Recorded(f.required("description").text());
      default -> throw new IllegalStateException("kind=" + kind);
    };
  }
}

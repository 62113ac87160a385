package dev.pipewright.formats.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Roofline;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Operator.ShapedBlock;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks of decoders keep their shape in a profile. */
class ShapedBlockJsonTest {
  @TempDir private Path folder;

  private static ModelFile profiled(LayerGraph graph, ZooModel zoo) {
    Cluster cluster = ClusterNames.resolve("h100:1x1");
    return new ModelFile(
        graph,
        Roofline.profile(graph, cluster, zoo.trainedOn(cluster), List.of(1, 2)),
        Optional.of(zoo.trainedOn(cluster)));
  }

  private ModelFile again(ModelFile model) {
    Path file = folder.resolve("profile.json");
    ProfileJson.write(file, model);
    return ProfileJson.read(file);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"llama3-8b", "mixtral-8x7b", "qwen3-0.6b", "deepseek-v2-lite", "gpt-oss-20b"})
  void aDecoderReadsBackAsItself(String name) {
    ZooModel zoo = Models.find(name).orElseThrow();
    ModelFile written = profiled(zoo.graph(), zoo);
    ModelFile read = again(written);
    assertEquals(zoo.graph().layers(), read.graph().layers());
    assertEquals(written, read);
  }

  @RepeatedTest(200)
  void anyBlockReadsBackAsItself(RepetitionInfo seed) {
    Drawn drawn = new Drawn(new SplittableRandom(seed.getCurrentRepetition()));
    ZooModel zoo = Models.find("llama:layers=1,hidden=64,heads=4,kv-heads=2,ffn=128").orElseThrow();
    Operator block = drawn.block();
    List<Layer> layers =
        zoo.graph().layers().stream()
            .map(layer ->
                layer.operator() instanceof ShapedBlock ? layer.computing(List.of(block)) : layer)
            .toList();
    ModelFile read = again(profiled(LayerGraph.chain("drawn", layers), zoo));
    assertEquals(List.of(block), read.graph().layer(1).steps());
  }

  private record Drawn(SplittableRandom random) {
    private boolean flip() {
      return random.nextBoolean();
    }

    private int size() {
      return random.nextInt(1, 9);
    }

    private Dense dense() {
      return new Dense(size(), flip(), flip());
    }

    private <T> T one(T[] values) {
      return values[random.nextInt(values.length)];
    }

    private AttentionShape attention() {
      int serves = size();
      int keys = size();
      return flip()
          ? new AttentionShape.GroupedQuery(
              serves * keys,
              keys,
              size(),
              flip(),
              flip(),
              one(AttentionShape.QueryKeyNorm.values()),
              flip())
          : new AttentionShape.Latent(
              size(),
              flip() ? OptionalInt.of(size()) : OptionalInt.empty(),
              size(),
              size(),
              size(),
              size(),
              flip(),
              flip());
    }

    private FeedForwardShape feedForward() {
      if (flip()) {
        return dense();
      }
      int chosen = size();
      Optional<Dense> shared = flip() ? Optional.of(dense()) : Optional.empty();
      boolean gate = shared.isPresent() && flip();
      return new FeedForwardShape.Mixture(chosen + 2, chosen, dense(), flip(), shared, gate);
    }

    private AttentionSpan span() {
      return switch (random.nextInt(3)) {
        case 0 -> new AttentionSpan.Full();
        case 1 -> new AttentionSpan.Window(size());
        default -> new AttentionSpan.Chunk(size());
      };
    }

    private Positions positions() {
      return switch (random.nextInt(4)) {
        case 0 -> new Positions.Rotary();
        case 1 -> new Positions.Learned(size());
        case 2 -> new Positions.Relative(size());
        default -> new Positions.Fixed();
      };
    }

    ShapedBlock block() {
      LayerShape shape =
          new LayerShape(
              attention(),
              span(),
              feedForward(),
              one(NormShape.values()),
              random.nextInt(9),
              flip());
      return new ShapedBlock(shape, size(), size(), flip(), positions());
    }
  }

  private static final String OPERATOR =
      """
      {"kind": "shaped_block", "hidden": 8, "sequence": 4, "causal": true,
       "positions": {"kind": "rotary"},
       "attention": {"kind": "grouped_query", "heads": 4, "key_value_heads": 2, "head_width": 2,
                     "input_biases": false, "output_bias": false, "query_key_norm": "none",
                     "sinks": false},
       "span": {"kind": "window", "tokens": 2},
       "feed_forward": {"kind": "dense", "width": 16, "gated": true, "biases": false},
       "norm": "rms", "norms": 2, "cross_attention": false}\
      """;

  private static String file(String operator) {
    return """
    {"format": "pipewright-profile", "version": 1, "model": "one", "precision": "fp32",
     "provenance": {"source": "here", "device": "cpu", "date": "", "measured": true},
     "layers": [{"name": "a", "operator": %s,
       "parameters": 9, "output_elements": 3, "kept_elements": 3, "output_bytes": 12,
       "kept_bytes": 12, "parameter_bytes": 36}],
     "edges": [],
     "batches": [{"samples": 8, "forward_s": [0.1], "backward_s": [0.3], "update_s": [0]}]}
    """
        .formatted(operator);
  }

  /** Profiles of before wrote that instead. */
  @Test
  void describedBlocksStayReadable() {
    String described = "{\"kind\": \"block\", \"name\": \"transformer block\"}";
    Path file = Refusal.file(folder, "p.json", file(described));
    assertEquals(
        new Operator.Block("transformer block"),
        ProfileJson.read(file).graph().layer(0).operator());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "heads": 4 | "heads": 3 | heads=3 is no multiple of key_value_heads=2; each key and value serves as many heads
          "tokens": 2 | "rows": 2 | unknown key "rows" in layers[0].operator.span; known here: kind, tokens
          "kind": "rotary" | "kind": "turned" | layers[0].operator.positions.kind is the text "turned"; expected one of rotary, learned, relative, fixed
          "width": 16, | | the key "width" is missing in layers[0].operator.feed_forward; add it
          "norms": 2 | "norms": 9 | norms=9 is out of range; write 0 to 8
          """)
  void mistakesAreSaidInOneSentence(String from, String to, String expected) {
    assertTrue(OPERATOR.contains(from), from);
    String operator = OPERATOR.replace(from, to == null ? "" : to);
    int line = file(OPERATOR).lines().toList().indexOf(lineOf(from)) + 1;
    Path file = Refusal.file(folder, "p.json", file(operator));
    Refusal.assertRefused("p.json:" + line + ": " + expected, file, ProfileJson::read);
  }

  private static String lineOf(String words) {
    return file(OPERATOR).lines().filter(line -> line.contains(words)).findFirst().orElseThrow();
  }
}

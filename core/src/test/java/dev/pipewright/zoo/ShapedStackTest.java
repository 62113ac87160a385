package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Decoders of any shape as chains of layers, against the counts of their shapes. */
class ShapedStackTest {
  private static final String[] DECODERS = {
    "llama2-7b",
    "llama3-70b",
    "mixtral-8x7b",
    "qwen3-0.6b",
    "qwen3-235b-a22b",
    "deepseek-v2",
    "gpt-oss-20b"
  };

  private static TransformerShape shape(String name) {
    return Transformers.find(name).orElseThrow().shape();
  }

  private static LayerGraph graph(String name) {
    return Models.find(name).orElseThrow().graph();
  }

  @Test
  void layersHaveTheShapesParametersAndFlop() {
    for (String name : DECODERS) {
      TransformerShape shape = shape(name);
      LayerGraph graph = graph(name);
      assertEquals(shape.layers() + 2, graph.size(), name);
      long parameters = graph.layers().stream().mapToLong(Layer::parameters).sum();
      assertEquals(shape.parameters(), parameters, name);
      int sequence = shape.usualSequence();
      double flop =
          graph.layers().stream()
              .filter(layer -> !(layer.operator() instanceof Operator.Embedding))
              .mapToDouble(layer -> layer.work().forward())
              .sum();
      double expected = sequence * shape.forwardFlopsPerToken(sequence);
      assertEquals(expected, flop, 1e-12 * expected, name);
    }
  }

  /** A product's gradients each take as long as the product; scores have no weights. */
  @Test
  void backwardPassesMultiplyTwiceAsMuch() {
    for (String name : DECODERS) {
      for (Layer layer : graph(name).layers()) {
        if (layer.operator() instanceof Operator.ShapedBlock) {
          double backward = layer.work().inputGradient() + layer.work().weightGradient();
          assertEquals(2 * layer.work().forward(), backward, 1e-12 * backward, name);
          assertTrue(layer.work().weightGradient() < layer.work().forward(), name);
        }
      }
    }
  }

  /**
   * V. Korthikanti et al., §4.1: 34 bytes of a token and feature with a perceptron of 4h, GELU and
   * dropout; without the masks (2 bytes, and 1 of scores) and with rotated copies of queries and
   * keys here.
   */
  @Test
  void aPlainBlockKeepsWhatThePaperCounts() {
    LayerGraph graph =
        graph("llama:layers=1,hidden=1024,heads=16,kv-heads=16,ffn=4096,sequence=512");
    Layer block = graph.layer(1);
    long states = 512L * 1024;
    // 4 of norms, 3 + 2 of queries, keys and values, 1 of attention's output, 3 · 4 inside
    assertEquals(22 * states, block.keptElements());
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama3-70b", "mixtral-8x7b", "deepseek-v2", "gpt-oss-20b"})
  void membersOfATensorParallelGroupHoldTheLayerTogether(String name) {
    LayerGraph graph = graph(name);
    for (int parts : new int[] {2, 4, 8}) {
      Parallelism split = Parallelism.of(Kind.TENSOR, parts);
      ShardedParameters held = new ShardedParameters(graph, split);
      for (int layer : new int[] {1, graph.size() - 2}) {
        long pieces = 0;
        for (int part = 0; part < parts; part++) {
          pieces += held.of(layer, part).pieces();
        }
        long whole = held.of(layer, 0).whole();
        assertEquals(graph.layer(layer).parameters(), pieces + whole, name + " over " + parts);
        assertTrue(whole < 0.06 * graph.layer(layer).parameters(), name + ": " + whole);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"llama3-70b, 64", "qwen3-0.6b, 16", "deepseek-v2, 128"})
  void headsLimitTensorParallelism(String name, int heads) {
    ParallelismLimits limits = new ParallelismLimits(graph(name));
    assertEquals(Optional.empty(), limits.refusal(Parallelism.of(Kind.TENSOR, heads)));
    assertTrue(limits.refusal(Parallelism.of(Kind.SEQUENCE, heads + 1)).isPresent());
  }
}

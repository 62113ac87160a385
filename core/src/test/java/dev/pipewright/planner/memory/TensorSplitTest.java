package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class TensorSplitTest {
  private static final Cluster NODE = Clusters.find("dapple-a:1x4").orElseThrow();
  private static final Collectives GROUP = Collectives.achieved(NODE, new int[] {0, 1, 2, 3});

  private static LayerGraph graph(String name) {
    return Models.find(name).orElseThrow().graph();
  }

  private static TensorSplit split(String model, String layer) {
    LayerGraph graph = graph(model);
    return TensorSplit.of(graph, Objects.requireNonNull(graph.index().get(layer)));
  }

  /** Korthikanti et al., table 2: sbh(10 + 24/t + 5as/ht) bytes at two bytes per element. */
  @Test
  void aBlockKeepsWhatIsPublishedForTensorParallelism() {
    double s = 1024;
    double h = 1600;
    double a = 25;
    LayerGraph graph = graph("gpt-2-xl");
    TensorSplit split = split("gpt-2-xl", "block-7");
    double kept = graph.layer(7).keptElements();
    for (int t : new int[] {1, 2, 4, 8}) {
      double published = s * h * (10 + 24.0 / t + 5 * a * s / (h * t)) / 2;
      assertEquals(published, kept * split.kept(t), 1);
      assertEquals(1.0 / t, split.weights(t));
    }
    double states = s * h * 4;
    assertEquals(2 * GROUP.allReduce(states), split.forwardSeconds(GROUP, 4), 1e-12);
    assertEquals(2 * GROUP.allReduce(states), split.backwardSeconds(GROUP, 4), 1e-12);
  }

  /** The mask that travels along is no state: 384 × 1024. */
  @Test
  void aBlockWithAMaskReducesItsStatesAlone() {
    TensorSplit split = split("bert-48", "block-3");
    assertEquals(384.0 * 1024, split.message());
    assertEquals(384.0 * 1024, split.input());
  }

  @Test
  void aConvolutionGathersItsOutputAndSumsItsInputsGradient() {
    TensorSplit split = split("vgg-19", "conv2_1");
    double output = 128.0 * 112 * 112;
    double input = 64.0 * 112 * 112;
    assertEquals(GROUP.allGather(4 * output), split.forwardSeconds(GROUP, 4), 1e-12);
    assertEquals(GROUP.allReduce(4 * input), split.backwardSeconds(GROUP, 4), 1e-12);
    assertEquals(1, split.kept(4));
    assertEquals(0.25, split.weights(4));
    assertEquals(43.0 / 128, split.weights(3));
  }

  @Test
  void nobodyNeedsTheGradientOfTheNetworksInput() {
    assertEquals(0, split("vgg-19", "conv1_1").backwardSeconds(GROUP, 4));
  }

  @Test
  void theLastLayersOutputStaysDivided() {
    LayerGraph graph = graph("gpt-2");
    Layer head = graph.layer(graph.size() - 1);
    TensorSplit split = TensorSplit.of(graph, graph.size() - 1);
    assertEquals(0, split.forwardSeconds(GROUP, 4));
    double logits = 1024.0 * 50_257;
    double share = Math.ceil(50_257 / 4.0) / 50_257;
    double states = head.keptElements() - logits;
    assertEquals(states + logits * share, head.keptElements() * split.kept(4), 1);
    assertEquals(GROUP.allReduce(4 * 1024.0 * 768), split.backwardSeconds(GROUP, 4), 1e-12);
  }

  @Test
  void aTableIsDividedByRows() {
    TensorSplit split = split("gpt-2", "embedding");
    assertEquals(Math.ceil(50_257 / 2.0) / 50_257, split.weights(2));
    assertEquals(GROUP.allReduce(4 * 1024.0 * 768), split.forwardSeconds(GROUP, 4), 1e-12);
    assertEquals(0, split.backwardSeconds(GROUP, 4));
  }

  @Test
  void whatHasNoProductIsDoneByEverybody() {
    TensorSplit split = split("resnet-50", "bn1");
    assertFalse(split.divides());
    assertEquals(1, split.weights(8));
    assertEquals(0, split.forwardSeconds(GROUP, 4));
    LayerGraph file =
        LayerGraph.chain(
            "file",
            java.util.List.of(
                new Layer(
                    "a",
                    new Operator.Recorded("Linear(4, 4)"),
                    java.util.Optional.empty(),
                    16,
                    4,
                    4,
                    dev.pipewright.model.Work.NONE)));
    assertFalse(TensorSplit.of(file, 0).divides());
  }
}

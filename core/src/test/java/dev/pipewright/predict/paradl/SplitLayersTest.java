package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Workload;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Shape;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.zoo.Models;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which layers strategies divide: where the division ends, and what is switched off. */
class SplitLayersTest {
  private static LayerGraph dividable(SmallNet net, Optional<List<Boolean>> switches) {
    Workload workload = net.on(SmallNet.nodes(2, 1), 1);
    return new ParadlNetwork(workload, switches).graph();
  }

  private static List<Boolean> cut(LayerGraph graph, List<Integer> grid) {
    CutRegion region = new CutRegion(graph, new Parallelism(Kind.SPATIAL, grid));
    return IntStream.range(0, graph.size()).mapToObj(region::contains).toList();
  }

  @RepeatedTest(value = 100, name = SmallNet.SEEDED)
  void aGridCoversEveryMapThatItCuts(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    LayerGraph graph = dividable(SmallNet.random(random), Optional.empty());
    List<Integer> grid = List.of(random.nextInt(1, 5), random.nextInt(2, 5));
    List<Boolean> cut = cut(graph, grid);
    assertTrue(cut.contains(true));
    for (int layer = 0; layer < graph.size(); layer++) {
      if (cut.get(layer)) {
        Shape made = graph.layer(layer).output().orElseThrow();
        assertTrue(made.extent(1) >= grid.get(0) && made.extent(2) >= grid.get(1), made::toString);
      }
    }
  }

  private static LayerGraph twoProducts(Optional<List<Boolean>> switches) {
    SmallNet net = SmallNet.input(3, 8, 8).convolution(6, 3, 1, 1).relu().convolution(8, 3, 1, 1);
    return dividable(net, switches);
  }

  private static List<Boolean> split(LayerGraph graph, Kind kind) {
    ParallelismLimits limits = new ParallelismLimits(graph);
    return IntStream.range(0, graph.size())
        .mapToObj(layer -> limits.width(layer, kind).isPresent())
        .toList();
  }

  @Test
  void channelsAreSplitFromTheSecondProductOn() {
    LayerGraph graph = twoProducts(Optional.empty());
    assertEquals(List.of(false, true, false, true), split(graph, Kind.FILTER));
    assertEquals(List.of(false, false, false, true), split(graph, Kind.CHANNEL));
  }

  @Test
  void aLayerThatIsSwitchedOffIsNotSplit() {
    LayerGraph first = twoProducts(Optional.of(List.of(false, true, true, false)));
    assertEquals(List.of(false, true, false, false), split(first, Kind.FILTER));
    assertEquals(List.of(false, false, false, false), split(first, Kind.CHANNEL));
    assertEquals(List.of(false, true, true, false), cut(first, List.of(2, 2)));
    LayerGraph second = twoProducts(Optional.of(List.of(false, false, true, true)));
    assertEquals(List.of(false, false, false, true), split(second, Kind.FILTER));
    assertEquals(List.of(false, false, false, true), split(second, Kind.CHANNEL));
    assertEquals(List.of(false, false, false, true), cut(second, List.of(2, 2)));
  }

  /** ParaDL §4.5 gathers after the last convolution and its pooling; averages are over all. */
  @ParameterizedTest
  @CsvSource({
    "vgg-16, fc6, 2, 2",
    "vgg-16, fc6, 1, 4",
    "resnet-50, avgpool, 2, 2",
    "resnet-50, avgpool, 4, 1"
  })
  void theGridEndsBeforeTheFirstLayerWithoutPositions(
      String model, String next, int height, int width) {
    LayerGraph graph = Models.find(model).orElseThrow().graph();
    List<Boolean> cut = cut(graph, List.of(height, width));
    int end = graph.layers().stream().map(Layer::name).toList().indexOf(next);
    for (int layer = 1; layer < graph.size(); layer++) { // after the input
      assertEquals(layer < end, cut.get(layer), graph.layer(layer).name());
    }
  }

  /** A map of 5×5 after the pooling has no position for a sixth part. */
  @Test
  void theGridEndsWhereAMapHasTooFewPositions() {
    SmallNet net = SmallNet.input(3, 10, 10).convolution(4, 3, 1, 1).pooling(2, 2).relu();
    LayerGraph graph = dividable(net, Optional.empty());
    assertEquals(List.of(false, true, false, false), cut(graph, List.of(6, 1)));
    assertEquals(List.of(false, true, true, true), cut(graph, List.of(5, 1)));
  }

  /** Seven rows read three of either neighbour: parts of two rows do not have them. */
  @Test
  void theGridEndsWhereAWindowReachesBeyondTheNeighbour() {
    SmallNet net = SmallNet.input(3, 6, 6).convolution(4, 3, 1, 1).convolution(4, 7, 1, 3);
    LayerGraph graph = dividable(net, Optional.empty());
    assertEquals(List.of(false, true, false), cut(graph, List.of(3, 1)));
    assertEquals(List.of(false, true, true), cut(graph, List.of(2, 1)));
  }
}

package dev.pipewright.planner.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TrainingGraphTest {
  private static final Devices DEVICES = new Devices(2, 1, 1e6);

  private static Layer layer(String name) {
    return new Layer(name, new Operator.Recorded(name), Optional.empty(), 0, 0, 0, Work.NONE);
  }

  /** 0 → 1 → 2, and 0 → 2. */
  private static LayerGraph layers() {
    List<Layer> layers = List.of(layer("a"), layer("b"), layer("c"));
    List<LayerGraph.Edge> edges =
        List.of(new LayerGraph.Edge(0, 1), new LayerGraph.Edge(1, 2), new LayerGraph.Edge(0, 2));
    return new LayerGraph("three", layers, edges);
  }

  private static Profile profile() {
    return new Profile(
        new Provenance("test", "none", "today", false),
        Precision.FP32,
        List.of(new LayerSizes(10, 1, 5), new LayerSizes(20, 2, 6), new LayerSizes(40, 3, 7)),
        List.of(4),
        List.of(
            List.of(
                new LayerTimes(1, 2, Double.NaN, 0),
                new LayerTimes(3, 6, Double.NaN, 0),
                new LayerTimes(4, 8, Double.NaN, 0))));
  }

  @Test
  void theBackwardPassIsTheForwardPassTurnedRound() {
    OperatorGraph graph = TrainingGraph.training(layers(), profile(), DEVICES, 4, 2, 10);
    assertEquals(6, graph.size());
    assertEquals(
        List.of(
            new Edge(0, 1),
            new Edge(1, 2),
            new Edge(0, 2),
            new Edge(0, 3),
            new Edge(1, 4),
            new Edge(2, 5),
            new Edge(4, 3),
            new Edge(5, 4),
            new Edge(5, 3)),
        graph.edges());
    assertEquals(6, graph.operator(4).acceleratorTime());
    assertEquals(60, graph.operator(4).processorTime());
    assertEquals(graph.operator(1).colour(), graph.operator(4).colour());
    assertEquals(20, graph.operator(0).transferTime()); // 10 bytes of 4 samples, 2 a second
    assertEquals(60, graph.operator(5).transferTime()); // gradients of what layers 0 and 1 wrote
    assertEquals(5 + 4, graph.operator(0).bytes());
    assertEquals(5, graph.operator(3).bytes());
  }

  @Test
  void inferenceIsTheForwardPassAlone() {
    OperatorGraph graph = TrainingGraph.inference(layers(), profile(), DEVICES, 4, 2, 10);
    assertEquals(3, graph.size());
    assertEquals(3, graph.edges().size());
    PlacementResult answer = PlacementPlanner.plan(graph, PlacementRequest.contiguous());
    PlacementResult.Placed placed = assertInstanceOf(PlacementResult.Placed.class, answer);
    assertEquals(8, placed.best().maxLoad()); // all on one: transfers take longer
  }
}

package dev.pipewright.planner.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.placement.PlacementCheck.Problem;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PlacementCheckTest {
  private static List<Problem> problems(
      OperatorGraph graph, OperatorPlacement placement, boolean contiguous) {
    boolean[] processor = new boolean[placement.devices().size()];
    for (int device = 0; device < processor.length; device++) {
      processor[device] = placement.devices().get(device).processor();
    }
    int[] deviceOf = PlacementPlanner.deviceOf(graph, placement);
    return PlacementCheck.problems(graph, deviceOf, processor, contiguous);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void findsNothingWrongWithWhatIsPlanned(RepetitionInfo seed) {
    OperatorGraph graph = RandomWorkload.of(seed.getCurrentRepetition());
    if (PlacementPlanner.plan(graph, PlacementRequest.contiguous()) instanceof Placed placed) {
      assertEquals(List.of(), problems(graph, placed.best(), true));
    }
    PlacementRequest apart =
        new PlacementRequest(false, true, PlacementRequest.MOST_IDEALS, 1, () -> false);
    if (PlacementPlanner.plan(graph, apart) instanceof Placed placed) {
      assertEquals(List.of(), problems(graph, placed.best(), false));
    }
  }

  @RepeatedTest(value = 600, name = "seed {currentRepetition}")
  void saysOfAnyPlacementWhatTheRefereeSays(RepetitionInfo seed) {
    OperatorGraph graph = RandomWorkload.of(seed.getCurrentRepetition());
    EveryPlacement every = EveryPlacement.of(graph);
    var random = new SplittableRandom(seed.getCurrentRepetition());
    for (int trial = 0; trial < 20; trial++) {
      boolean[] processor = new boolean[random.nextInt(1, 4)];
      for (int device = 0; device < processor.length; device++) {
        processor[device] = graph.devices().accelerators() == 0 || random.nextInt(5) == 0;
      }
      int[] deviceOf = new int[graph.size()];
      for (int i = 0; i < deviceOf.length; i++) {
        boolean again = i > 0 && random.nextInt(3) > 0;
        deviceOf[i] = again ? deviceOf[i - 1] : random.nextInt(processor.length);
      }
      OperatorPlacement placement = OperatorPlacement.of(graph, deviceOf, processor);
      String apart = every.wrong(placement, false);
      List<Problem> found = problems(graph, placement, false);
      assertEquals(apart.isEmpty(), found.isEmpty(), () -> apart + " against " + found);
      List<Problem> together = problems(graph, placement, true);
      boolean inference = graph.operators().stream().noneMatch(OperatorGraph.Operator::backward);
      if (inference && found.isEmpty()) { // the referee also knows orphans of the backward pass
        String wrong = every.wrong(placement, true);
        assertEquals(wrong.isEmpty(), together.isEmpty(), () -> wrong + " against " + together);
      }
      if (every.wrong(placement, true).isEmpty()) {
        assertEquals(List.of(), together);
      }
    }
  }

  @Test
  void wordsNameWhatIsWhere() {
    OperatorGraph graph =
        new OperatorGraph(
            "chain",
            new OperatorGraph.Devices(1, 0, 9),
            List.of(operator(7, 5), operator(8, 5), operator(9, 0)),
            List.of(new OperatorGraph.Edge(0, 1), new OperatorGraph.Edge(1, 2)));
    List<Problem> problems =
        PlacementCheck.problems(graph, new int[] {0, 1, 0}, new boolean[] {false, false}, true);
    assertEquals(2, problems.size(), problems::toString);
    assertEquals(
        "uses 2 accelerators, but the workload has 1; put their nodes on fewer",
        problems.get(0).message());
    assertTrue(
        problems.get(1).message().contains("comes back to device 0 from device 1"),
        problems::toString);
    List<Problem> full =
        PlacementCheck.problems(graph, new int[] {0, 0, 0}, new boolean[] {false}, true);
    assertEquals(
        "device 0 needs 10 B of 9 B; move nodes to other devices, or give --memory",
        full.get(0).message());
  }

  private static OperatorGraph.Operator operator(long id, double bytes) {
    return new OperatorGraph.Operator(
        id, "op", true, 1, 1, 0, bytes, false, java.util.OptionalLong.empty());
  }
}

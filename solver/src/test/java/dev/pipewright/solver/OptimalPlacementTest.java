package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.OperatorPlacement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class OptimalPlacementTest {
  private static final SearchLimit LIMIT = new SearchLimit(600, 60);

  private static OperatorGraph random(long seed) {
    var random = new SplittableRandom(seed);
    int size = random.nextInt(1, 8);
    List<Operator> operators = new ArrayList<>();
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      double time = random.nextDouble(0, 5);
      operators.add(
          new Operator(
              i,
              "operator",
              random.nextInt(10) > 0,
              time * random.nextInt(1, 5),
              time,
              random.nextDouble(0, 2),
              random.nextInt(0, 5),
              false,
              random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(i / 2)));
      for (int before = 0; before < i; before++) {
        if (random.nextInt(3) == 0) {
          edges.add(new Edge(before, i));
        }
      }
    }
    Devices devices =
        new Devices(random.nextInt(1, 4), random.nextInt(0, 2), random.nextInt(5, 20));
    return new OperatorGraph("random", devices, operators, edges);
  }

  /** Every operator on every device; infinite where nothing fits. */
  private static double best(OperatorGraph graph, int[] deviceOf, int next) {
    int accelerators = graph.devices().accelerators();
    boolean[] processor = new boolean[accelerators + graph.devices().processors()];
    Arrays.fill(processor, accelerators, processor.length, true);
    if (next == graph.size()) {
      OperatorPlacement placement = OperatorPlacement.of(graph, deviceOf, processor);
      return valid(graph, placement) ? placement.maxLoad() : Double.POSITIVE_INFINITY;
    }
    double least = Double.POSITIVE_INFINITY;
    for (int device = 0; device < processor.length; device++) {
      deviceOf[next] = device;
      least = Math.min(least, best(graph, deviceOf, next + 1));
    }
    return least;
  }

  private static boolean valid(OperatorGraph graph, OperatorPlacement placement) {
    List<Long> seen = new ArrayList<>();
    for (OperatorPlacement.Device device : placement.devices()) {
      List<Long> colours = new ArrayList<>();
      for (int i : device.operators()) {
        if (!device.processor() && !graph.operator(i).onAccelerator()) {
          return false;
        }
        graph.operator(i).colour().ifPresent(colours::add);
      }
      if (!device.processor() && device.bytes() > graph.devices().acceleratorBytes()) {
        return false;
      }
      if (colours.stream().anyMatch(seen::contains)) {
        return false;
      }
      seen.addAll(colours);
    }
    return true;
  }

  @RepeatedTest(value = 60, name = "seed {currentRepetition}")
  void isTheBestOfAllPlacements(RepetitionInfo seed) {
    OperatorGraph graph = random(seed.getCurrentRepetition());
    double best = best(graph, new int[graph.size()], 0);
    SolverAnswer<OperatorPlacement> answer = OptimalPlacement.of(graph, Optional.empty(), LIMIT);
    if (best == Double.POSITIVE_INFINITY) {
      assertInstanceOf(SolverAnswer.Impossible.class, answer);
      return;
    }
    SolverAnswer.Found<OperatorPlacement> found = Answers.optimal(answer);
    assertEquals(best, found.value(), 1e-7);
    assertTrue(valid(graph, found.best()));
    SolverAnswer<OperatorPlacement> again =
        OptimalPlacement.of(graph, Optional.of(found.best()), LIMIT);
    assertEquals(best, Answers.optimal(again).value(), 1e-7);
  }

  @Test
  void whatIsKnownIsNotForgotten() {
    OperatorGraph graph = random(5);
    OperatorPlacement known =
        OperatorPlacement.of(graph, new int[graph.size()], new boolean[] {true});
    SolverAnswer<OperatorPlacement> answer =
        OptimalPlacement.of(graph, Optional.of(known), new SearchLimit(1e-6, 1e-6));
    var found = assertInstanceOf(SolverAnswer.Found.class, answer);
    assertTrue(found.value() <= known.maxLoad() && found.bound() <= found.value());
  }
}

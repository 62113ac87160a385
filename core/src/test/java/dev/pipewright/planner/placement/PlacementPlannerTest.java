package dev.pipewright.planner.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.PlacementResult.NoRoom;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import dev.pipewright.planner.placement.PlacementResult.TooBroad;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PlacementPlannerTest {
  private static Placed placed(OperatorGraph graph, PlacementRequest request) {
    return assertInstanceOf(Placed.class, PlacementPlanner.plan(graph, request));
  }

  @RepeatedTest(value = 600, name = "seed {currentRepetition}")
  void isTheBestOfAllContiguousPlacements(RepetitionInfo seed) {
    OperatorGraph graph = RandomWorkload.of(seed.getCurrentRepetition());
    EveryPlacement every = EveryPlacement.of(graph);
    PlacementResult answer = PlacementPlanner.plan(graph, PlacementRequest.contiguous());
    if (every.contiguous() == Double.POSITIVE_INFINITY) {
      assertInstanceOf(NoRoom.class, answer);
      return;
    }
    Placed placed = assertInstanceOf(Placed.class, answer);
    assertEquals("", every.wrong(placed.best(), true));
    assertEquals(every.contiguous(), placed.best().maxLoad(), 1e-9);
    assertTrue(placed.proven());
    assertTrue(placed.bound().value() <= every.contiguous() + 1e-9, placed::toString);
    assertEquals(0, placed.gap());
    placed
        .alternatives()
        .forEach(
            other -> assertTrue(other.maxLoad() >= every.contiguous() - 1e-9, other::toString));
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void saysTheLeastMemoryAndAccelerators(RepetitionInfo seed) {
    OperatorGraph random = RandomWorkload.of(seed.getCurrentRepetition());
    OperatorGraph graph = random.on(new Devices(2, 0, 5));
    EveryPlacement every = EveryPlacement.of(graph);
    if (PlacementPlanner.plan(graph, PlacementRequest.contiguous()) instanceof NoRoom no) {
      assertEquals(every.bytes(), no.leastBytes(), 1e-9);
      boolean runs = graph.operators().stream().allMatch(Operator::onAccelerator);
      assertEquals(runs, no.unsupported() < 0);
      if (every.bytes() < Double.POSITIVE_INFINITY) {
        placed(graph.on(new Devices(2, 0, no.leastBytes())), PlacementRequest.contiguous());
      }
      if (no.leastAccelerators().isPresent()) {
        int least = no.leastAccelerators().getAsInt();
        placed(graph.on(new Devices(least, 0, 5)), PlacementRequest.contiguous());
        PlacementResult fewer =
            PlacementPlanner.plan(
                graph.on(new Devices(least - 1, 0, 5)), PlacementRequest.contiguous());
        assertInstanceOf(NoRoom.class, fewer);
      }
    } else {
      assertTrue(every.bytes() <= 5);
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void alongOneOrderIsContiguousToo(RepetitionInfo seed) {
    OperatorGraph graph = RandomWorkload.of(seed.getCurrentRepetition());
    EveryPlacement every = EveryPlacement.of(graph);
    if (PlacementPlanner.plan(graph, PlacementRequest.contiguous().linearized())
        instanceof Placed placed) {
      assertEquals("", every.wrong(placed.best(), true));
      assertTrue(placed.best().maxLoad() >= every.contiguous() - 1e-9);
      assertTrue(placed.bound().value() <= every.contiguous() + 1e-9);
      assertTrue(!placed.proven() || placed.best().maxLoad() <= every.contiguous() + 1e-9);
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void takenApartIsBetweenTheBestOfAllAndTheContiguousOptimum(RepetitionInfo seed) {
    OperatorGraph graph = RandomWorkload.of(seed.getCurrentRepetition());
    EveryPlacement every = EveryPlacement.of(graph);
    if (every.contiguous() < Double.POSITIVE_INFINITY) {
      Placed placed = placed(graph, PlacementRequest.contiguous().nonContiguous());
      assertEquals("", every.wrong(placed.best(), false));
      assertTrue(placed.best().maxLoad() <= every.contiguous() + 1e-9);
      assertTrue(placed.bound().value() <= every.apart() + 1e-9, placed::toString);
      assertEquals(every.apart(), placed.best().maxLoad(), 1e-9); // so small, it finds the best
      assertEquals(placed, placed(graph, PlacementRequest.contiguous().nonContiguous()));
    }
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void toldToStopItKeepsTheBestSoFarAndABoundThatHolds(RepetitionInfo seed) {
    OperatorGraph graph = RandomWorkload.of(seed.getCurrentRepetition());
    EveryPlacement every = EveryPlacement.of(graph);
    AtomicInteger looks = new AtomicInteger(seed.getCurrentRepetition() % 4);
    PlacementRequest soon = PlacementRequest.contiguous().until(() -> looks.getAndDecrement() <= 0);
    if (PlacementPlanner.plan(graph, soon) instanceof Placed placed) {
      assertEquals("", every.wrong(placed.best(), true));
      assertTrue(placed.best().maxLoad() >= every.contiguous() - 1e-9);
      assertTrue(placed.bound().value() <= every.contiguous() + 1e-9);
    }
  }

  private static OperatorGraph forward(long seed) {
    var random = new SplittableRandom(seed);
    int size = random.nextInt(8, 11);
    double transfer = random.nextDouble(0, 3);
    double density = random.nextDouble(0.05, 0.5);
    List<Operator> operators = new ArrayList<>();
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      double time = random.nextDouble();
      operators.add(
          new Operator(
              i,
              "a",
              random.nextInt(20) > 0,
              time * random.nextDouble(0.5, 8),
              time,
              random.nextDouble(transfer + 1e-9),
              random.nextDouble(),
              false,
              OptionalLong.empty()));
      for (int before = 0; before < i; before++) {
        if (random.nextDouble() < density) {
          edges.add(new Edge(before, i));
        }
      }
    }
    double bytes = random.nextBoolean() ? size : random.nextDouble(1, 4);
    Devices devices = new Devices(random.nextInt(1, 6), random.nextInt(0, 3), bytes);
    return new OperatorGraph("forward", devices, operators, edges);
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void isAsGoodAsThePlainDynamicProgram(RepetitionInfo seed) {
    OperatorGraph graph = forward(seed.getCurrentRepetition());
    double best = PlainDynamicProgram.best(graph);
    PlacementResult answer = PlacementPlanner.plan(graph, PlacementRequest.contiguous());
    double ours =
        answer instanceof Placed placed ? placed.best().maxLoad() : Double.POSITIVE_INFINITY;
    assertEquals(best, ours, 1e-9);
  }

  private static OperatorGraph sideBySide(int chains, int length) {
    List<Operator> operators = new ArrayList<>();
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < chains * length; i++) {
      operators.add(new Operator(i, "a", true, 10, 1 + i % 3, 0.1, 0, false, OptionalLong.empty()));
      if (i % length > 0) {
        edges.add(new Edge(i - 1, i));
      }
    }
    return new OperatorGraph("side by side", new Devices(3, 0, 0), operators, edges);
  }

  @Test
  void countsTheIdealsOfChainsSideBySide() {
    assertEquals(5 * 5 * 5, placed(sideBySide(3, 4), PlacementRequest.contiguous()).ideals());
  }

  @Test
  void moreIdealsThanAllowedAreRefusedButCanBeLinearized() {
    OperatorGraph graph = sideBySide(10, 10); // 11¹⁰ ideals
    TooBroad broad =
        assertInstanceOf(
            TooBroad.class,
            PlacementPlanner.plan(graph, PlacementRequest.contiguous().atMost(1000)));
    assertEquals(new TooBroad(1000, 100), broad);
    Placed along = placed(graph, PlacementRequest.contiguous().linearized());
    assertTrue(along.best().maxLoad() < 199 / 2.0, along::toString);
  }

  @Test
  void aLimitThatIsJustEnoughIsEnough() {
    OperatorGraph graph = sideBySide(3, 4);
    placed(graph, PlacementRequest.contiguous().atMost(125));
    assertInstanceOf(
        TooBroad.class, PlacementPlanner.plan(graph, PlacementRequest.contiguous().atMost(124)));
  }

  /**
   * Leaves without time, but with bytes, are joined to their neighbours where there is no way else.
   */
  @Test
  void joinedLeavesAreNotCalledProven() {
    List<Operator> operators = new ArrayList<>();
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      double time = i < 4 ? 1 : 0;
      operators.add(
          new Operator(i, "a", true, 9 * time, time, 0.1, 1, false, OptionalLong.empty()));
      if (i > 0) {
        edges.add(i < 4 ? new Edge(i - 1, i) : new Edge(i, i % 4));
      }
    }
    OperatorGraph graph = new OperatorGraph("leaves", new Devices(2, 0, 9), operators, edges);
    Placed exact = placed(graph, PlacementRequest.contiguous());
    Placed joined = placed(graph, PlacementRequest.contiguous().atMost(5));
    assertTrue(exact.ideals() > 5 && exact.proven());
    assertEquals(5, joined.ideals());
    assertTrue(!joined.proven(), joined::toString);
    assertEquals(2, joined.bound().value(), 1e-9);
    assertEquals(2.1, joined.best().maxLoad(), 1e-12);
    assertEquals(2.1, exact.best().maxLoad(), 1e-12);
  }

  /** Two heavy operators with a light one between: apart, the light one keeps out of the way. */
  @Test
  void contiguityHasAPrice() {
    List<Operator> operators = new ArrayList<>();
    double[] seconds = {3, 1, 3, 1};
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      operators.add(new Operator(i, "a", true, 99, seconds[i], 0, 0, false, OptionalLong.empty()));
      if (i > 0) {
        edges.add(new Edge(i - 1, i));
      }
    }
    OperatorGraph graph = new OperatorGraph("price", new Devices(3, 0, 0), operators, edges);
    assertEquals(4, placed(graph, PlacementRequest.contiguous()).best().maxLoad());
    Placed apart = placed(graph, PlacementRequest.contiguous().nonContiguous());
    assertEquals(3, apart.best().maxLoad());
    assertTrue(apart.proven());
    assertEquals("contiguous", apart.alternatives().get(0).kind());
    assertEquals(4, apart.alternatives().get(0).maxLoad());
  }
}

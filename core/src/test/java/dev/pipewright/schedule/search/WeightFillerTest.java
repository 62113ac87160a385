package dev.pipewright.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class WeightFillerTest {
  private static final double ANY = Double.POSITIVE_INFINITY;

  private static double[] caps(int ranks, int cap) {
    double[] caps = new double[ranks];
    Arrays.fill(caps, cap);
    return caps;
  }

  @RepeatedTest(20)
  void timesProgramsAsTheSimulatorDoes(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(2, 7);
    int microBatches = random.nextInt(1, 12);
    OpTimes times = Uneven.times(2 * ranks, random, random.nextBoolean() ? 1 : 9); // or they queue
    Placement placement = Placement.waves(ranks, 2);
    OpLanes lanes = new OpLanes(placement, microBatches, times);
    WeightFiller filler = new WeightFiller(lanes, 1, caps(ranks, 2 * ranks));
    double allowance = random.nextBoolean() ? ANY : random.nextDouble();
    assertTrue(filler.run(VTurn.orders(ranks, microBatches), 0.5, allowance));
    Schedule schedule =
        new Schedule("turn", placement, microBatches, lanes.packed(filler.programs()));
    assertEquals(List.of(), Validator.check(schedule));
    Run run = StaticSimulator.run(schedule, times, Conditions.of(Conditions.Transfers.QUEUED));
    assertEquals(run.makespan(), filler.makespan(), 1e-9);
    assertEquals(run.longestSpan(), filler.span(), 1e-9);
  }

  @Test
  void anAllowanceDecidesWhetherAShortGapIsFilled() {
    OpTimes times = OpTimes.equal(2, 1, 1, 1.5, 0);
    Placement placement = Placement.straight(2);
    OpLanes lanes = new OpLanes(placement, 2, times);
    WeightFiller filler = new WeightFiller(lanes, 1, caps(2, 2));
    byte[][] orders = {{0, 0, 1, 1}, {0, 1, 0, 1}};
    assertTrue(filler.run(orders, 1, ANY));
    assertEquals(
        """
        0 | F0 F1 I0 I1 W0 W1
        1 | F0 I0 F1 I1 W0 W1
        """,
        Diagram.of(new Schedule("any", placement, 2, lanes.packed(filler.programs()))));
    assertTrue(filler.run(orders, 1, 1));
    assertEquals(
        """
        0 | F0 F1 I0 W0 I1 W1
        1 | F0 I0 F1 I1 W0 W1
        """,
        Diagram.of(new Schedule("one", placement, 2, lanes.packed(filler.programs()))));
  }

  @Test
  void anOrderThatMemoryCannotHoldDoesNotRun() {
    OpLanes lanes = new OpLanes(Placement.straight(2), 2, OpTimes.equal(2, 1, 1, 1, 0));
    byte[][] orders = {{0, 0, 1, 1}, {0, 1, 0, 1}};
    assertFalse(new WeightFiller(lanes, 1, caps(2, 1)).run(orders, 1, ANY));
  }

  @Test
  void ranksThatWaitForEachOtherDoNotRun() {
    OpLanes lanes = new OpLanes(Placement.straight(2), 2, OpTimes.equal(2, 1, 1, 1, 0));
    byte[][] orders = {{0, 1, 0, 1}, {0, 0, 1, 1}};
    assertFalse(new WeightFiller(lanes, 1, caps(2, 2)).run(orders, 1, ANY));
  }
}

package dev.pipewright.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class AdaptiveVTest {
  private static Schedule schedule(OpTimes times, int microBatches, int cap) {
    return AdaptiveV.of(microBatches, times, cap);
  }

  @Test
  void equalPassesLeaveNoBubbleWithTheMemoryOfZeroBubbleV() {
    for (int ranks = 2; ranks <= 5; ranks++) {
      OpTimes times = OpTimes.equal(2 * ranks, 1, 1, 1, 0);
      Schedule schedule = schedule(times, 2 * ranks, AdaptiveV.zeroBubble(ranks));
      assertEquals(0, StaticSimulator.run(schedule, times).spanIdleShare(), 1e-9);
    }
  }

  @Test
  void theTurnRunsFourPassesOfEachMicroBatch() {
    assertEquals("[F0, F1, F2, F0, I0, F1, I1, I0, F2, I2, I1, I2]", turn(0, 3).toString());
    assertEquals("[F0, F0, F1, F1, I0, F2, I0, F2, I1, I1, I2, I2]", turn(1, 3).toString());
  }

  private static List<Op> turn(int rank, int microBatches) {
    OpLanes lanes = new OpLanes(Placement.waves(2, 2), microBatches, OpTimes.equal(4, 1, 1, 1, 0));
    long[][] orders = lanes.packed(VTurn.orders(2, microBatches));
    return new Schedule("turn", Placement.waves(2, 2), microBatches, orders).program(rank);
  }

  @Test
  void lessMemoryIsNeverUsedBeyondItsCap() {
    for (int ranks = 2; ranks <= 5; ranks++) {
      OpTimes times = OpTimes.equal(2 * ranks, 1, 1, 1, 0.1);
      for (int cap = 2; cap <= 2 * ranks; cap++) {
        Schedule schedule = schedule(times, 7, cap);
        assertEquals(List.of(), Validator.check(schedule));
        int[] peaks = StaticSimulator.run(schedule, times).peakActivations();
        assertTrue(Arrays.stream(peaks).max().orElseThrow() <= cap);
      }
    }
  }

  @RepeatedTest(10)
  void runsWithAnyTimes(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(2, 6);
    OpTimes times = Uneven.times(2 * ranks, random);
    int cap = random.nextInt(2, 2 * ranks + 2);
    Schedule schedule = schedule(times, random.nextInt(1, 10), cap);
    assertEquals(List.of(), Validator.check(schedule));
    int[] peaks = StaticSimulator.run(schedule, times).peakActivations();
    assertTrue(Arrays.stream(peaks).max().orElseThrow() <= cap);
  }

  @RepeatedTest(10)
  void moreMemoryThanZeroBubbleVIsNoWorseThanItsRule(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(2, 6);
    int microBatches = random.nextInt(1, 12);
    OpTimes times = Uneven.times(2 * ranks, random);
    OpLanes lanes = new OpLanes(Placement.waves(ranks, 2), microBatches, times);
    double[] caps = new double[ranks];
    Arrays.fill(caps, 2 * ranks);
    WeightFiller filler = new WeightFiller(lanes, 1, caps);
    assertTrue(filler.run(VTurn.orders(ranks, microBatches), 0.75, Double.POSITIVE_INFINITY));
    if (microBatches <= 3 * ranks) { // the search compares on no fewer
      Schedule schedule = schedule(times, microBatches, 2 * ranks);
      Run run = StaticSimulator.run(schedule, times);
      assertTrue(20 * run.longestSpan() + run.makespan() <= filler.score() * (1 + 1e-9));
    }
  }

  @Test
  void theSameQuestionHasTheSameAnswer() {
    OpTimes times = OpTimes.equal(6, 2, 2, 1, 0.1);
    assertEquals(Diagram.of(schedule(times, 8, 5)), Diagram.of(schedule(times, 8, 5)));
  }

  @Test
  void namesACapThatHoldsNoTurn() {
    OpTimes times = OpTimes.equal(4, 1, 1, 1, 0);
    var error = assertThrows(IllegalArgumentException.class, () -> schedule(times, 4, 1));
    assertEquals(
        "a V needs room for at least 2 activations on each rank: cap=1", error.getMessage());
  }
}

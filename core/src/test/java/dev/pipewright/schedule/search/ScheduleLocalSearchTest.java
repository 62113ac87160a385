package dev.pipewright.schedule.search;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

class ScheduleLocalSearchTest {
  private static final int MOVES = 3000;

  private static byte[][] improved(OpLanes lanes, byte[][] programs, double cap) {
    double[] caps = new double[lanes.ranks];
    Arrays.fill(caps, cap);
    return new ScheduleLocalSearch(lanes, new WeightFiller(lanes, 1, caps))
        .improve(programs, MOVES);
  }

  /** One micro-batch after the other: forward 0, input gradient 1, weights' gradient 2. */
  private static byte[][] oneAtATime(int ranks, int microBatches) {
    byte[][] programs = new byte[ranks][3 * microBatches];
    for (byte[] program : programs) {
      for (int i = 0; i < program.length; i++) {
        program[i] = (byte) (i % 3);
      }
    }
    return programs;
  }

  @Test
  void findsTheOptimumOfTwoStagesFromTheWorstOrder() {
    OpTimes times = OpTimes.equal(2, 1, 1, 1, 0);
    OpLanes lanes = new OpLanes(Placement.straight(2), 4, times);
    byte[][] programs = improved(lanes, oneAtATime(2, 4), 3);
    Schedule schedule = new Schedule("t", Placement.straight(2), 4, lanes.packed(programs));
    assertEquals(13, StaticSimulator.run(schedule, times).makespan(), 1e-9);
  }

  @RepeatedTest(20)
  void isNeverLongerAndStaysWithinMemory(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(1, 6);
    int microBatches = random.nextInt(1, 7);
    int cap = random.nextInt(1, 5);
    OpTimes times = Uneven.times(ranks, random);
    Placement placement = Placement.straight(ranks);
    OpLanes lanes = new OpLanes(placement, microBatches, times);
    byte[][] before = oneAtATime(ranks, microBatches);
    Schedule worst = new Schedule("t", placement, microBatches, lanes.packed(before));
    byte[][] after = improved(lanes, before, cap);
    Schedule better = new Schedule("t", placement, microBatches, lanes.packed(after));
    assertEquals(List.of(), Validator.check(better));
    Run run = StaticSimulator.run(better, times);
    assertTrue(Arrays.stream(run.peakActivations()).max().orElseThrow() <= cap);
    assertTrue(run.makespan() <= StaticSimulator.run(worst, times).makespan() * (1 + 1e-9));
  }

  @Test
  void findsTheSameAgain() {
    OpTimes times = Uneven.times(4, new SplittableRandom(1));
    OpLanes lanes = new OpLanes(Placement.straight(4), 6, times);
    assertArrayEquals(improved(lanes, oneAtATime(4, 6), 3), improved(lanes, oneAtATime(4, 6), 3));
  }
}

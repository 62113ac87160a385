package dev.pipewright.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ZeroBubbleAutoTest {
  private static Schedule schedule(OpTimes times, int microBatches, double[] cap) {
    return ZeroBubbleAuto.of(microBatches, times, cap);
  }

  private static double[] cap(int stages, double each) {
    double[] cap = new double[stages];
    Arrays.fill(cap, each);
    return cap;
  }

  @Test
  void threeStagesFourMicroBatches() {
    assertEquals(
        """
        0 | F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
        1 | F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
        2 | F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
        """,
        Diagram.of(schedule(OpTimes.equal(3, 1, 1, 1, 0), 4, cap(3, 3))));
  }

  @Test
  void withThePeakOfOneForwardOneBackwardEqualPassesWaitAsInH1() {
    for (int stages = 1; stages <= 8; stages++) {
      for (int microBatches = stages; microBatches <= 3 * stages; microBatches++) {
        OpTimes times = OpTimes.equal(stages, 1, 1, 1, 0);
        Schedule schedule = schedule(times, microBatches, cap(stages, stages));
        assertEquals(List.of(), Validator.check(schedule));
        assertEquals(
            3.0 * microBatches + stages - 1, StaticSimulator.run(schedule, times).makespan(), 1e-9);
      }
    }
  }

  /** The same pattern with whole backward passes, dropping batches for memory. */
  @Test
  void withLessMemoryHalvesAreFasterThanWholeBackwardPasses() {
    for (int stages = 2; stages <= 8; stages++) {
      List<StageLoad> loads = Collections.nCopies(stages, new StageLoad(1, 2, 0, 1));
      OpTimes times = OpTimes.equal(stages, 1, 1, 1, 0);
      for (int most = 1; most < stages; most++) {
        int microBatches = 3 * stages;
        Schedule whole =
            PeriodicPipeline.dropping(loads, new double[stages - 1], most, microBatches);
        Run run = StaticSimulator.run(schedule(times, microBatches, cap(stages, most)), times);
        assertTrue(run.makespan() <= StaticSimulator.run(whole, times).makespan() + 1e-9);
        assertTrue(Arrays.stream(run.peakActivations()).max().orElseThrow() <= most);
      }
    }
  }

  @Test
  void withTwiceThatPeakEqualPassesLeaveNoBubble() {
    for (int stages = 1; stages <= 8; stages++) {
      OpTimes times = OpTimes.equal(stages, 1, 1, 1, 0);
      Schedule schedule = schedule(times, 3 * stages, cap(stages, 2 * stages));
      assertEquals(0, StaticSimulator.run(schedule, times).spanIdleShare(), 1e-9);
    }
  }

  @RepeatedTest(50)
  void runsWithinMemoryAndNoSlowerThanOneForwardOneBackward(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int stages = random.nextInt(1, 7);
    int microBatches = random.nextInt(1, 14);
    OpTimes times = Uneven.times(stages, random);
    double[] cap = random.doubles(stages, stages, 2 * stages + 3).toArray();
    Schedule schedule = schedule(times, microBatches, cap);
    assertEquals(List.of(), Validator.check(schedule));
    Run run = StaticSimulator.run(schedule, times);
    int[] peaks = run.peakActivations();
    for (int stage = 0; stage < stages; stage++) {
      assertTrue(peaks[stage] <= cap[stage]);
    }
    Run plain = StaticSimulator.run(OneForwardOneBackward.of(stages, microBatches), times);
    assertTrue(run.makespan() <= plain.makespan() * (1 + 1e-9));
  }

  @Test
  void oneMicroBatchOfMemoryStillRuns() {
    OpTimes times = OpTimes.equal(3, 1, 1, 1, 0.5);
    Schedule schedule = schedule(times, 5, cap(3, 1));
    assertEquals(List.of(), Validator.check(schedule));
  }

  @Test
  void aSlowCutIsWaitedForWhereItIs() {
    OpTimes even = OpTimes.equal(4, 1, 1, 1, 0.1);
    double[] there = {0.1, 4, 0.1, 0.1};
    OpTimes slow =
        new OpTimes(
            even.forward(),
            even.input(),
            even.weight(),
            even.recompute(),
            there,
            there,
            even.step(),
            false);
    double[] cap = {8, 8, 4, 4};
    Conditions queued = Conditions.of(Conditions.Transfers.QUEUED);
    double planned = StaticSimulator.run(schedule(slow, 12, cap), slow, queued).makespan();
    double unaware = StaticSimulator.run(schedule(even, 12, cap), slow, queued).makespan();
    assertEquals(63.2, planned, 1e-9);
    assertEquals(67.2, unaware, 1e-9);
  }

  @Test
  void namesACapBelowOne() {
    OpTimes times = OpTimes.equal(2, 1, 1, 1, 0);
    var error =
        assertThrows(
            IllegalArgumentException.class, () -> schedule(times, 4, new double[] {1, 0.9}));
    assertEquals("a stage must hold at least one micro-batch: cap=0.9", error.getMessage());
  }
}

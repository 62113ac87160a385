package dev.pipewright.schedule.periodic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PeriodicPipelineTest {
  private static List<StageLoad> equal(int stages) {
    return Collections.nCopies(stages, new StageLoad(1, 2, 0, 0));
  }

  private static int most(Schedule schedule) {
    Run run = StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 1, 1, 0));
    return Arrays.stream(run.peakActivations()).max().orElseThrow();
  }

  @Test
  void withoutACapEqualStagesRunOneForwardOneBackward() {
    for (int stages = 1; stages <= 6; stages++) {
      assertEquals(
          Diagram.of(OneForwardOneBackward.of(stages, 9)),
          Diagram.of(
              PeriodicPipeline.star(equal(stages), new double[stages - 1], Integer.MAX_VALUE, 9)));
    }
  }

  @Test
  void aCapGroupsStages() {
    assertEquals(
        """
        0 | F0 F1 B0 F2 B1 F3 B2 B3
        1 | F0 F1 B0 F2 B1 F3 B2 B3
        2 | F0 B0 F1 B1 F2 B2 F3 B3
        3 | F0 B0 F1 B1 F2 B2 F3 B3
        """,
        Diagram.of(PeriodicPipeline.star(equal(4), new double[3], 2, 4)));
  }

  @Test
  void droppingEveryFourthOfFourStagesSavesOneActivation() {
    Schedule schedule = PeriodicPipeline.dropping(equal(4), new double[3], 3, 12);
    assertEquals(3, most(schedule));
    assertEquals(4, most(PeriodicPipeline.star(equal(4), new double[3], 4, 12)));
  }

  /** Referee: every period and every k, one by one. */
  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void isTheFastestThatFits(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int count = random.nextInt(1, 7);
    List<StageLoad> stages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      stages.add(new StageLoad(random.nextInt(1, 9), random.nextInt(1, 9), 0, 0));
    }
    double[] cuts = random.doubles(count - 1, 0, 4).toArray();
    int cap = random.nextInt(1, 7);
    Schedule star = PeriodicPipeline.star(stages, cuts, cap, 40);
    Schedule dropping = PeriodicPipeline.dropping(stages, cuts, cap, 40);
    for (Schedule schedule : List.of(star, dropping)) {
      assertEquals(List.of(), Validator.check(schedule));
      assertEquals(count, schedule.ranks());
      assertTrue(most(schedule) <= cap, schedule.name() + " holds " + most(schedule));
    }
    double starPeriod = Double.POSITIVE_INFINITY;
    double droppingPeriod = Double.POSITIVE_INFINITY;
    List<StageLoad> loads =
        StageLoad.withTransfers(
            stages.stream()
                .map(load -> new StageLoad(load.forwardSeconds(), load.backwardSeconds(), 0, 1))
                .toList(),
            cuts);
    for (double once : OneForwardOneBackwardStar.periods(loads)) {
      if (holds(OneForwardOneBackwardStar.of(loads, once), cap)) {
        starPeriod = Math.min(starPeriod, once);
      }
      for (int k = 1; k < Math.max(2, count); k++) {
        if (holds(KPeriodic.of(loads, once, k), cap)) {
          droppingPeriod = Math.min(droppingPeriod, once * (1 + 1.0 / k));
        }
      }
    }
    assertNoSlower(starPeriod, star, stages, cuts);
    assertNoSlower(droppingPeriod, dropping, stages, cuts);
  }

  /** Referee: the pattern of k batches, unrolled; whole seconds, so that sums are exact. */
  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void dropsTheBatchesThatThePatternLacks(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int count = random.nextInt(2, 9);
    List<StageLoad> stages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      stages.add(new StageLoad(random.nextInt(0, 5), random.nextInt(1, 5), 0, 1));
    }
    double[] cuts = random.doubles(count - 1, 0, 3).map(Math::floor).toArray();
    int cap = random.nextInt(1, 7);
    int batches = random.nextInt(1, 40);
    List<StageLoad> loads = StageLoad.withTransfers(stages, cuts);
    double best = Double.POSITIVE_INFINITY;
    Pattern fastest = KPeriodic.of(loads, 1); // replaced below
    for (int k = 1; k < count; k++) {
      for (double once : OneForwardOneBackwardStar.periods(loads)) {
        Pattern pattern = KPeriodic.of(loads, once, k);
        if (once * (1 + 1.0 / k) < best && holds(pattern, cap)) {
          best = once * (1 + 1.0 / k);
          fastest = pattern;
        }
      }
    }
    Schedule unrolled = Unrolled.of("k-periodic", fastest, batches);
    Schedule schedule = PeriodicPipeline.dropping(stages, cuts, cap, batches);
    for (int rank = 0; rank < count; rank++) {
      assertArrayEquals(ownStages(unrolled.packed(2 * rank)), schedule.packed(rank));
    }
  }

  /** The same ops with stages counted on without transfers. */
  private static long[] ownStages(long[] program) {
    return Arrays.stream(program)
        .map(
            op -> Schedule.pack(Schedule.pass(op), Schedule.stage(op) / 2, Schedule.microBatch(op)))
        .toArray();
  }

  private static boolean holds(Pattern pattern, int cap) {
    int[] held = pattern.concurrentActivations();
    for (int stage = 0; stage < held.length; stage += 2) { // the odd ones are transfers
      if (held[stage] > cap) {
        return false;
      }
    }
    return true;
  }

  /** A schedule follows its pattern or is ahead of it, and may take its warm-up and drain. */
  private static void assertNoSlower(
      double period, Schedule schedule, List<StageLoad> stages, double[] cuts) {
    double[] forward = stages.stream().mapToDouble(StageLoad::forwardSeconds).toArray();
    double[] backward = stages.stream().mapToDouble(StageLoad::backwardSeconds).toArray();
    double[] transfers = Arrays.copyOf(cuts, stages.size());
    OpTimes times =
        new OpTimes(
            forward,
            backward,
            new double[stages.size()],
            forward,
            transfers,
            transfers,
            OncePerStepTimes.none(stages.size()),
            false);
    double makespan = StaticSimulator.run(schedule, times).makespan();
    int ends = 2 * stages.size() + 1;
    assertTrue(
        makespan <= (schedule.microBatches() + ends) * period,
        () -> "%s: %s for periods of %s".formatted(schedule.name(), makespan, period));
  }

  @Test
  void capsBelowOneAreRefused() {
    Exception e =
        assertThrows(
            IllegalArgumentException.class,
            () -> PeriodicPipeline.star(equal(2), new double[1], 0, 4));
    assertEquals("a stage holds an activation at least: cap=0", e.getMessage());
  }
}

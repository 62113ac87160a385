package dev.pipewright.schedule.periodic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class OneForwardOneBackwardStarTest {
  @Test
  void threeEqualStagesAreNeverIdle() {
    Pattern pattern = OneForwardOneBackwardStar.of(Loads.equal(3), 2);
    assertEquals(
        """
        0 | 0.0 F1^2 1.0 B1^0
        1 | 0.0 B2^0 1.0 F2^2
        2 | 0.0 F3^1 1.0 B3^1
        """,
        pattern.toString());
    assertArrayEquals(new int[] {3, 2, 1}, pattern.concurrentActivations());
  }

  @Test
  void aPeriodForAllStagesTakesOneBatchThereAndBack() {
    Pattern pattern = OneForwardOneBackwardStar.of(Loads.equal(3), 6);
    assertEquals(
        """
        0 | 0.0 F1^0 5.0 B1^0
        1 | 1.0 F2^0 4.0 B2^0
        2 | 2.0 F3^0 3.0 B3^0
        """,
        pattern.toString());
  }

  @Test
  void groupsAreFilledFromTheLastStage() { // U = 2, 3, 1, 2, 4
    List<StageLoad> stages = Loads.of(1, 1, 1, 2, 0.5, 0.5, 1, 1, 2, 2);
    assertArrayEquals(new int[] {4, 3, 2, 2, 1}, OneForwardOneBackwardStar.groups(stages, 4));
    assertArrayEquals(new int[] {2, 2, 2, 1, 1}, OneForwardOneBackwardStar.groups(stages, 6));
    assertArrayEquals(new int[] {2, 2, 1, 1, 1}, OneForwardOneBackwardStar.groups(stages, 7));
    assertArrayEquals(new int[] {1, 1, 1, 1, 1}, OneForwardOneBackwardStar.groups(stages, 12));
  }

  @Test
  void refusesAPeriodShorterThanAStage() {
    var error =
        assertThrows(
            IllegalArgumentException.class,
            () -> OneForwardOneBackwardStar.of(Loads.equal(3), 1.5));
    assertEquals(
        "the period must hold every stage's passes: period=1.5, slowest_stage=2.0",
        error.getMessage());
  }

  @RepeatedTest(100)
  void noPatternHoldsFewerActivationsAtAnyStage(RepetitionInfo seed) { // theorem 3
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = Loads.whole(random, random.nextInt(1, 4), 3);
    int slowest = (int) Loads.slowest(stages);
    int period = slowest + random.nextInt(0, Math.min(5, (int) Loads.all(stages) - slowest + 1));
    Pattern pattern = OneForwardOneBackwardStar.of(stages, period);
    assertEquals(List.of(), PatternCheck.check(pattern));
    assertArrayEquals(
        ExhaustivePatterns.fewestActivations(stages, period), pattern.concurrentActivations());
  }

  @RepeatedTest(200)
  void runsForAnyTimesAndHoldsAsManyBatchesAsItsGroup(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = new ArrayList<>();
    int count = random.nextInt(1, 65);
    for (int stage = 0; stage < count; stage++) {
      double forward = Math.pow(random.nextDouble(), 3);
      stages.add(new StageLoad(forward, random.nextDouble(), 0, 1));
    }
    double period = Loads.slowest(stages) * (1 + 3 * random.nextDouble() * random.nextInt(2));
    Pattern pattern = OneForwardOneBackwardStar.of(stages, period);
    assertEquals(List.of(), PatternCheck.check(pattern));
    assertArrayEquals(
        OneForwardOneBackwardStar.groups(stages, period), pattern.concurrentActivations());
  }

  @RepeatedTest(60)
  void theBestPeriodIsThatOfAllPatterns(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = Loads.whole(random, random.nextInt(1, 4), 2);
    double[] capacity = random.doubles(stages.size(), 3, 10).map(Math::rint).toArray();
    assertEquals(
        exhaustive(stages, capacity), OneForwardOneBackwardStar.bestPeriod(stages, capacity));
  }

  private static OptionalDouble exhaustive(List<StageLoad> stages, double[] capacity) {
    int[] limits = new int[stages.size()];
    for (int stage = 0; stage < limits.length; stage++) {
      StageLoad load = stages.get(stage);
      double left = capacity[stage] - load.stateBytes();
      limits[stage] =
          left < 0 ? -1 : load.activationBytes() == 0 ? 100 : (int) (left / load.activationBytes());
    }
    for (int period = (int) Loads.slowest(stages); period <= Loads.all(stages); period++) {
      if (ExhaustivePatterns.exists(stages, period, limits)) {
        return OptionalDouble.of(period);
      }
    }
    return OptionalDouble.empty();
  }

  @Test
  void transfersAreStagesOnLinks() {
    List<StageLoad> stages = StageLoad.withTransfers(Loads.equal(3), 0.5, 1.5);
    assertEquals(
        List.of(2.0, 1.0, 2.0, 3.0, 2.0), stages.stream().map(StageLoad::seconds).toList());
    Pattern pattern = OneForwardOneBackwardStar.of(stages, 3);
    assertEquals(List.of(), PatternCheck.check(pattern));
    assertArrayEquals(new int[] {4, 3, 3, 2, 1}, pattern.concurrentActivations());
    assertArrayEquals(new double[] {4, 0, 3, 0, 1}, pattern.bytes());
  }

  @Test
  void moreMemoryShortensThePeriodOfEqualStages() {
    List<StageLoad> stages = Loads.equal(4);
    double[] periods = new double[4];
    for (int batches = 1; batches <= 4; batches++) {
      periods[batches - 1] =
          OneForwardOneBackwardStar.bestPeriod(stages, batches, batches, batches, batches)
              .orElseThrow();
    }
    assertArrayEquals(new double[] {8, 4, 4, 2}, periods);
    assertTrue(OneForwardOneBackwardStar.bestPeriod(stages, 0.5, 1, 1, 1).isEmpty());
  }
}

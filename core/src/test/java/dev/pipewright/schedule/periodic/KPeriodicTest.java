package dev.pipewright.schedule.periodic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KPeriodicTest {
  @Test
  void twoOfThreeBatchesOnThreeStagesHoldTwo() { // figure 3b
    Pattern pattern = KPeriodic.of(Loads.equal(3), 2);
    assertEquals(6, pattern.period());
    assertEquals(
        """
        0 | 0.0 F1^1 1.0 B1^0 2.0 F1^2 5.0 B1^1
        1 | 0.0 B2^0 1.0 F2^1 3.0 F2^2 4.0 B2^1
        2 | 2.0 F3^1 3.0 B3^1 4.0 F3^2 5.0 B3^2
        """,
        pattern.toString());
    assertArrayEquals(new int[] {2, 2, 1}, pattern.concurrentActivations());
  }

  /** Theorem 4: k + 1 layers of weights 1, 1, 2, … k and unit activations, memory k + 1. */
  @ParameterizedTest(name = "k = {0}")
  @ValueSource(ints = {1, 2, 3, 4, 5, 8, 13})
  void onlyKBatchesReachTheThroughputOfTheoremFour(int k) {
    List<StageLoad> stages = theoremFour(k, 1);
    double[] capacity = new double[k + 1];
    Arrays.fill(capacity, k + 1);
    Pattern pattern = KPeriodic.of(stages, k);
    assertEquals(List.of(), PatternCheck.check(pattern));
    assertEquals(2 * (1 + 1.0 / k), pattern.normalisedPeriod(), 1e-12);
    assertEquals(k, pattern.concurrentActivations()[0]);
    for (double bytes : pattern.bytes()) {
      assertTrue(bytes <= k + 1, "bytes=" + bytes);
    }
    assertEquals(4, OneForwardOneBackwardStar.bestPeriod(stages, capacity).orElseThrow());
    Pattern best = BestPattern.of(stages, capacity).orElseThrow();
    assertEquals(pattern.normalisedPeriod(), best.normalisedPeriod(), 1e-12);
  }

  @Test
  void noPatternOfOneBatchReachesIt() { // half seconds: four of them are a stage's passes
    List<StageLoad> stages = theoremFour(2, 2);
    int[] limits = {2, 2, 1};
    for (int period = 4; period < 8; period++) {
      assertFalse(ExhaustivePatterns.exists(stages, period, limits), "period " + period);
    }
    assertTrue(ExhaustivePatterns.exists(stages, 8, limits));
  }

  private static List<StageLoad> theoremFour(int k, double seconds) {
    List<StageLoad> stages = new ArrayList<>();
    stages.add(new StageLoad(seconds, seconds, 1, 1));
    for (int layer = 1; layer <= k; layer++) {
      stages.add(new StageLoad(seconds, seconds, layer, 1));
    }
    return stages;
  }

  @RepeatedTest(100)
  void runsForAnyTimesAndHoldsWhatItsGroupKeeps(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = new ArrayList<>();
    int count = random.nextInt(1, 20);
    for (int stage = 0; stage < count; stage++) {
      stages.add(new StageLoad(random.nextDouble(), random.nextDouble(), 0, 1));
    }
    int batches = random.nextInt(1, 10);
    double once = Loads.slowest(stages) * (1 + random.nextDouble());
    Pattern pattern = KPeriodic.of(stages, once, batches);
    assertEquals(List.of(), PatternCheck.check(pattern));
    assertEquals(once * (batches + 1) / batches, pattern.normalisedPeriod(), 1e-9);
    assertArrayEquals(
        KPeriodic.held(stages, once, batches),
        pattern.concurrentActivations(),
        () -> "k " + batches);
  }

  @RepeatedTest(50)
  void theBestPatternFitsAndBeatsEveryMemberOfBothFamilies(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = Loads.whole(random, random.nextInt(1, 7), 4);
    double[] capacity = random.doubles(stages.size(), 3, 14).map(Math::rint).toArray();
    double best = Double.POSITIVE_INFINITY;
    for (double once = Loads.slowest(stages); once <= Loads.all(stages); once++) {
      for (int batches = 1; batches < 9; batches++) {
        Pattern dropping = KPeriodic.of(stages, once, batches);
        best = fits(dropping, capacity) ? Math.min(best, dropping.normalisedPeriod()) : best;
      }
      Pattern whole = OneForwardOneBackwardStar.of(stages, once);
      best = fits(whole, capacity) ? Math.min(best, once) : best;
    }
    var found = BestPattern.of(stages, capacity);
    assertEquals(best, found.map(Pattern::normalisedPeriod).orElse(Double.POSITIVE_INFINITY), 1e-9);
    found.ifPresent(pattern -> assertTrue(fits(pattern, capacity)));
  }

  private static boolean fits(Pattern pattern, double[] capacity) {
    double[] bytes = pattern.bytes();
    for (int stage = 0; stage < bytes.length; stage++) {
      if (bytes[stage] > capacity[stage]) {
        return false;
      }
    }
    return true;
  }
}

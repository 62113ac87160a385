package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class JitterTest {
  private static final Schedule SCHEDULE = OneForwardOneBackward.of(4, 16);
  private static final OpTimes TIMES = OpTimes.equal(4, 1, 1, 1, 0);

  private static MonteCarlo runs(Jitter jitter, int count) {
    return MonteCarlo.of(SCHEDULE, TIMES, Conditions.PLAIN, jitter, count);
  }

  @Test
  void factorsAreLogNormalWithMeanOne() {
    Jitter jitter = Jitter.of(3, 0.2);
    int count = 200_000;
    double mean = 0;
    double logs = 0;
    double squares = 0;
    for (int i = 0; i < count; i++) {
      double factor = jitter.factor(i % 100, i / 100);
      mean += factor / count;
      logs += Math.log(factor) / count;
      squares += Math.log(factor) * Math.log(factor) / count;
    }
    assertEquals(1, mean, 0.003);
    assertEquals(-0.02, logs, 0.003);
    assertEquals(0.2, Math.sqrt(squares - logs * logs), 0.003);
  }

  @Test
  void stragglersAreSlowThroughout() {
    Jitter jitter = new Jitter(5, 0, 0.25, 3);
    int slow = 0;
    for (int rank = 0; rank < 4000; rank++) {
      double factor = jitter.factor(rank, 0);
      assertEquals(factor, jitter.factor(rank, 17));
      assertTrue(factor == 1 || factor == 3);
      slow += factor == 3 ? 1 : 0;
    }
    assertEquals(1000, slow, 100);
  }

  @Test
  void withoutSpreadAllRunsAreTheSame() {
    MonteCarlo runs = runs(Jitter.of(1, 0), 20);
    assertEquals(57, runs.quantile(1e-9));
    assertEquals(57, runs.median());
    assertEquals(57, runs.quantile(1));
  }

  @Test
  void theSameSeedGivesTheSameRunsAndAnotherOthers() {
    Jitter first = Jitter.of(1, 0.1);
    Jitter other = Jitter.of(1000, 0.1);
    double[] once = runs(first, 50).seconds();
    assertEquals(Arrays.toString(once), Arrays.toString(runs(first, 50).seconds()));
    assertNotEquals(once[0], runs(other, 50).seconds()[0]);
  }

  @Test
  void neighbouringSeedsHaveNoRunInCommon() {
    double[] one = runs(Jitter.of(1, 0.1), 50).seconds();
    double[] two = runs(Jitter.of(2, 0.1), 50).seconds();
    for (double seconds : one) {
      assertTrue(Arrays.binarySearch(two, seconds) < 0, "both have " + seconds);
    }
  }

  @Test
  void aPipelineWaitsForTheSlowestSoItsMeanGrows() {
    MonteCarlo runs = runs(Jitter.of(1, 0.3), 400);
    assertTrue(runs.mean() > 57, "mean=" + runs.mean());
    assertTrue(runs.quantile(0.95) > runs.median());
  }

  @Test
  void quantilesAreTheLeastThatEnoughRunsDoNotExceed() {
    MonteCarlo runs = new MonteCarlo(new double[] {1, 2, 3, 4});
    assertEquals(2, runs.median());
    assertEquals(4, runs.quantile(0.95));
    assertEquals(3, runs.quantile(0.75));
    assertEquals(2.5, runs.mean());
    assertThrows(IllegalArgumentException.class, () -> runs.quantile(0));
  }
}

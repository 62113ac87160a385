package dev.pipewright.solver.calibrate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StepErrorsTest {
  private static double[] logs(double... ratios) {
    return Arrays.stream(ratios).map(Math::log).toArray();
  }

  @Test
  void errorsByHand() {
    StepErrors errors = StepErrors.of(logs(1.1, 0.8, 1, 1.02));
    assertEquals(4, errors.count());
    assertEquals(0.08, errors.mean(), 1e-12);
    assertEquals(0.06, errors.median(), 1e-12);
    assertEquals(0.2, errors.ninetieth(), 1e-12);
    assertEquals(0.2, errors.worst(), 1e-12);
    assertEquals(-0.02, errors.bias(), 1e-12);
    assertEquals(0.02, StepErrors.of(logs(1.1, 0.8, 1.02, 1, 0.99)).median(), 1e-12);
    assertThrows(IllegalArgumentException.class, () -> StepErrors.of(new double[0]));
  }

  @Test
  void aConformalIntervalLiesAtItsRanks() {
    // of 19 residuals, 90 % lie between the first and the last: ranks ⌊20 · 0.05⌋ and ⌈20 · 0.95⌉
    double[] residuals = IntStream.range(0, 19).mapToDouble(i -> -0.01 * i).toArray();
    assertEquals(new LogInterval(0.0, 0.18), ConformalInterval.of(residuals, 0.9));
    // of 39, the second from either end
    double[] more = IntStream.range(0, 39).mapToDouble(i -> -0.01 * i).toArray();
    assertEquals(new LogInterval(0.01, 0.37), ConformalInterval.of(more, 0.9));
    assertThrows(IllegalArgumentException.class, () -> ConformalInterval.of(residuals, 1));
    assertThrows(IllegalArgumentException.class, () -> ConformalInterval.of(new double[0], 0.9));
  }

  @Test
  void aConformalIntervalHoldsItsShareOfNewDraws() {
    SplittableRandom random = new SplittableRandom(3);
    int inside = 0;
    int draws = 0;
    for (int trial = 0; trial < 400; trial++) {
      double[] seen = random.doubles(60).map(x -> x * x).toArray(); // skewed
      LogInterval interval = ConformalInterval.of(seen, 0.9);
      for (int i = 0; i < 10; i++) {
        double error = -Math.pow(random.nextDouble(), 2);
        inside += interval.low() <= error && error <= interval.high() ? 1 : 0;
        draws++;
      }
    }
    double share = (double) inside / draws;
    assertTrue(0.89 <= share && share <= 0.945, "holds " + share);
  }
}

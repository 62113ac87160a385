package dev.pipewright.solver.calibrate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LayoutDifferencesTest {
  private static final int OF_GROUP = 8; // steps of SyntheticSteps

  private static List<MeasuredStep> steps() {
    return SyntheticSteps.measured(SyntheticSteps.truth(), i -> 1);
  }

  /** Whatever a network's layouts err by together. */
  @Test
  void sharedErrorsCancel() {
    double[] residuals =
        IntStream.range(0, steps().size())
            .map(i -> i / OF_GROUP)
            .mapToDouble(i -> 0.1 * i)
            .toArray();
    assertEquals(OptionalDouble.of(0), LayoutDifferences.of(steps(), residuals, 0.9));
  }

  /** Errors 0, 0.01, 0.03 and 0.07: the six differences by hand. */
  @Test
  void fourStepsOfANetworkHaveSixPairs() {
    List<MeasuredStep> steps = steps().subList(0, 4);
    double[] residuals = {0.07, 0, 0.03, 0.01};
    double[] differences = {0.01, 0.02, 0.03, 0.04, 0.06, 0.07};
    for (int k = 1; k <= 6; k++) {
      double level = (k - 0.5) / 7;
      double found = LayoutDifferences.of(steps, residuals, level).orElseThrow();
      assertEquals(differences[k - 1], found, 1e-12);
    }
    assertEquals(0.07, LayoutDifferences.of(steps, residuals, 0.99).orElseThrow(), 1e-12);
  }

  @Test
  void oneStepOfANetworkSaysNothing() {
    List<MeasuredStep> apart =
        IntStream.range(0, 6).mapToObj(group -> steps().get(group * OF_GROUP)).toList();
    assertEquals(OptionalDouble.empty(), LayoutDifferences.of(apart, new double[6], 0.9));
    assertThrows(
        IllegalArgumentException.class, () -> LayoutDifferences.of(apart, new double[6], 1));
  }

  /** The first four layouts recur with longer sequences. */
  @Test
  void nearCopiesAreNotCompared() {
    List<MeasuredStep> twice = List.of(steps().get(0), steps().get(4));
    assertEquals(0, LayoutDifferences.sorted(twice, new double[] {0, 0.1}).length);
    List<MeasuredStep> others = List.of(steps().get(0), steps().get(5));
    assertEquals(1, LayoutDifferences.sorted(others, new double[] {0, 0.1}).length);
  }

  /** Of other pairs with errors like these as many stay below as the level says, on average. */
  @Test
  void newPairsStayBelow() {
    SplittableRandom random = new SplittableRandom(1);
    List<MeasuredStep> steps = steps();
    int below = 0;
    for (int sample = 0; sample < 200; sample++) {
      double[] residuals = steps.stream().mapToDouble(s -> random.nextDouble()).toArray();
      double bar = LayoutDifferences.of(steps, residuals, 0.9).orElseThrow();
      for (int i = 0; i < 100; i++) {
        double one = random.nextDouble();
        double other = random.nextDouble();
        below += Math.abs(one - other) <= bar ? 1 : 0;
      }
    }
    assertEquals(0.9, below / 20_000.0, 0.01);
  }
}

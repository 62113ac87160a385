package dev.pipewright.solver.calibrate;

import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Errors of predicted steps, as shares of the measured seconds.
 *
 * @param count of steps
 * @param mean of absolute errors
 * @param median of absolute errors
 * @param ninetieth percentile of absolute errors
 * @param worst absolute error
 * @param bias mean error with its sign; positive where predictions are too slow
 */
public record StepErrors(
    int count, double mean, double median, double ninetieth, double worst, double bias) {
  private static final double MOST = 0.9;

  /** Of residuals ln(predicted / measured), at least one. */
  public static StepErrors of(double[] residuals) {
    int count = residuals.length;
    Check.that(count > 0, "no residuals");
    double[] sizes = Arrays.stream(residuals).map(r -> Math.abs(Math.expm1(r))).sorted().toArray();
    return new StepErrors(
        count,
        Arrays.stream(sizes).average().orElseThrow(),
        (sizes[(count - 1) / 2] + sizes[count / 2]) / 2,
        sizes[(int) Math.min(count - 1, Math.floor(MOST * count))],
        sizes[count - 1],
        Arrays.stream(residuals).map(Math::expm1).average().orElseThrow());
  }
}

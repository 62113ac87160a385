package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Intervals that hold a share of future measurements, from residuals of steps that the fit did not
 * see. Both ends are quantiles of their own, because measured steps err upwards.
 *
 * <p>Source: J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman, <i>Distribution-free
 * predictive inference for regression</i>, JASA 113 (2018), §2.2 (split-conformal intervals), with
 * half of what may be missed on each side.
 */
public final class ConformalInterval {
  private static final double ROUNDING = 1e-9; // of ranks that are whole numbers

  private ConformalInterval() {}

  /**
   * The interval of ln(measured / predicted).
   *
   * @param residuals ln(predicted / measured), at least one
   * @param level share of measurements that the interval holds, within 0 to 1
   */
  public static LogInterval of(double[] residuals, double level) {
    int count = residuals.length;
    Check.that(count > 0, "no residuals");
    Check.that(0 < level && level < 1, "level must lie between 0 and 1: %s", level);
    double[] errors = Arrays.stream(residuals).map(r -> -r).sorted().toArray();
    double missed = (1 - level) / 2;
    int low = (int) Math.floor((count + 1) * missed + ROUNDING) - 1;
    int high = (int) Math.ceil((count + 1) * (1 - missed) - ROUNDING) - 1;
    return new LogInterval(errors[Math.max(0, low)], errors[Math.min(count - 1, high)]);
  }
}

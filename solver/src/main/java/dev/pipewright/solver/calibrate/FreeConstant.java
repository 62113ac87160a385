package dev.pipewright.solver.calibrate;

import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * A constant that a fit may move.
 *
 * @param name as {@link dev.pipewright.predict.transformer.CalibratedConstants} has it
 * @param start where the fit begins and its prior lies: what data sheets, kernels' descriptions or
 *     an earlier calibration say
 * @param low least value
 * @param high largest value
 * @param strength of the prior: a step that is off by a share {@code x} costs as much as a constant
 *     that is {@code x / strength} off in its logarithm
 * @param parent the more general constant that this one specialises. With it, the prior pulls
 *     {@code ln(value / start)} towards the parent's instead of towards 0, so that few rows of its
 *     own decide little
 */
public record FreeConstant(
    String name, double start, double low, double high, double strength, Optional<String> parent) {
  public FreeConstant {
    Check.positive(low, name + ": low");
    Check.positive(strength, name + ": strength");
    Check.that(
        low < start && start < high && high < Double.POSITIVE_INFINITY,
        "%s: start=%s must lie between low=%s and high=%s",
        name,
        start,
        low,
        high);
  }

  /** One whose prior lies at its start. */
  public static FreeConstant of(
      String name, double start, double low, double high, double strength) {
    return new FreeConstant(name, start, low, high, strength, Optional.empty());
  }
}

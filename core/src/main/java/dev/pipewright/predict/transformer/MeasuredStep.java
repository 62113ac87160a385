package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;

/**
 * A training run with the seconds that its steps took.
 *
 * @param id what its table calls it
 * @param group of runs that resemble each other: one network on one machine
 * @param seconds of a step, measured
 * @param weight in a fit; 1 for a run whose settings are all known
 */
public record MeasuredStep(
    String id, String group, TransformerRun run, double seconds, double weight) {
  public MeasuredStep {
    Check.positive(seconds, "iteration_s");
    Check.positive(weight, "weight");
  }

  /** ln(predicted / measured): positive where the prediction is too slow. */
  public double residual(CalibratedConstants constants) {
    return Math.log(TransformerOracle.seconds(run, constants) / seconds);
  }
}

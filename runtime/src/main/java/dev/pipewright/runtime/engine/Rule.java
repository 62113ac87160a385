package dev.pipewright.runtime.engine;

import dev.pipewright.model.Optimizer;
import dev.pipewright.units.Check;

/**
 * How gradients change parameters.
 *
 * @param kind {@link Optimizer#SGD}, {@link Optimizer#MOMENTUM} or {@link Optimizer#ADAM}
 * @param rate the step's length
 * @param momentum the share of the last step that is taken again; of {@code MOMENTUM} only
 * @param decay a share of the parameter itself that is added to its gradient
 */
public record Rule(Optimizer kind, double rate, double momentum, double decay) {
  /** Adam's shares of the averages so far, and what keeps it from dividing by 0. */
  static final double FIRST = 0.9;

  static final double SECOND = 0.999;
  static final double EPSILON = 1e-8;

  public Rule {
    Check.that(
        kind != Optimizer.RMSPROP, "training knows sgd, momentum and adam: optimizer=%s", kind);
    Check.positive(rate, "the learning rate");
    Check.that(momentum >= 0 && momentum < 1, "momentum is a share below 1: momentum=%s", momentum);
    Check.amount(decay, "the weight decay");
  }

  /** The usual rates: 0.01 and momentum 0.9, or 0.001 for Adam. */
  public static Rule usual(Optimizer kind) {
    return new Rule(
        kind, kind == Optimizer.ADAM ? 1e-3 : 0.01, kind == Optimizer.MOMENTUM ? 0.9 : 0, 0);
  }
}

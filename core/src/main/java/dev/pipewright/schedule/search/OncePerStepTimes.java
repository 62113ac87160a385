package dev.pipewright.schedule.search;

import dev.pipewright.units.Check;

/**
 * How long the ops take that a training step runs once for each stage, not for each micro-batch: by
 * stage of all chains.
 *
 * @param gather seconds until all replicas of a stage have its parameters
 * @param reduce seconds until all replicas have the sum of their gradients
 * @param gradientPass seconds to take a stage's gradients or parameters over from another rank
 * @param update seconds of the optimizer's step
 */
public record OncePerStepTimes(
    double[] gather, double[] reduce, double[] gradientPass, double[] update) {
  public OncePerStepTimes {
    for (double[] seconds : new double[][] {gather, reduce, gradientPass, update}) {
      Check.that(
          seconds.length == gather.length,
          "one time per stage: times=%d, stages=%d",
          seconds.length,
          gather.length);
      for (double value : seconds) {
        Check.amount(value, "seconds of a step's op");
      }
    }
  }

  /** Nothing takes any time. */
  public static OncePerStepTimes none(int stages) {
    double[] none = new double[stages];
    return new OncePerStepTimes(none, none, none, none);
  }
}

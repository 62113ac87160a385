package dev.pipewright.predict.transformer;

import java.util.OptionalDouble;

/**
 * What a whole training is to be priced by.
 *
 * @param tokens to train on; empty where only a step is asked
 * @param deviceHour price of an hour of one device, in any currency; empty where unknown
 */
public record TrainingCost(OptionalDouble tokens, OptionalDouble deviceHour) {
  /** The price of the training; empty where tokens or price are unknown. */
  public OptionalDouble price(PredictedRun run) {
    return tokens.isPresent() && deviceHour.isPresent()
        ? OptionalDouble.of(run.deviceHours(tokens.getAsDouble()) * deviceHour.getAsDouble())
        : OptionalDouble.empty();
  }
}

package dev.pipewright.cluster;

import dev.pipewright.units.Check;

/**
 * What the training software of a machine adds to its hardware, as far as it has been calibrated.
 *
 * @param waitingShare seconds that devices wait for slower ones, for each second of arithmetic
 * @param fusesGroups whether gradients that only some devices sum with each other travel in one
 *     message, like those that all devices sum; otherwise layer by layer
 */
public record Software(double waitingShare, boolean fusesGroups) {
  /** Adds nothing. */
  public static final Software IDEAL = new Software(0, true);

  public Software {
    Check.amount(waitingShare, "share of waiting");
  }
}

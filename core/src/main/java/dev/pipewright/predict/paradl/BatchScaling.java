package dev.pipewright.predict.paradl;

import dev.pipewright.units.Check;

/**
 * How the batch follows the number of devices.
 *
 * @param perDevice weak scaling: so many samples for each device; otherwise strong scaling: so many
 *     over all
 */
public record BatchScaling(boolean perDevice, long samples) {
  public BatchScaling {
    Check.that(samples >= 1, "a batch has samples: samples=%d", samples);
  }

  /** Weak scaling. */
  public static BatchScaling perDevice(long samples) {
    return new BatchScaling(true, samples);
  }

  /** Strong scaling. */
  public static BatchScaling global(long samples) {
    return new BatchScaling(false, samples);
  }

  /** Samples of an iteration on so many devices. */
  public long on(int devices) {
    return perDevice ? Math.multiplyExact(samples, (long) devices) : samples;
  }
}

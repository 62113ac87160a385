package dev.pipewright.profile;

import dev.pipewright.units.Check;

/**
 * One measured exchange between devices.
 *
 * @param devices that take part
 * @param bytes that each device puts in, or holds at the end where it then holds more: the whole
 *     result of an all-gather, the whole input of a reduce-scatter
 * @param seconds until all have finished
 */
public record CollectiveTiming(Kind kind, int devices, double bytes, double seconds) {

  /** What is exchanged. */
  public enum Kind {
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    BROADCAST,
    REDUCE,
    POINT_TO_POINT;

    /**
     * Whether it is a number of equal steps, whatever its size. Broadcasts and reductions to a root
     * are cut into chunks, as many as the library likes.
     */
    public boolean hasSteps() {
      return this != BROADCAST && this != REDUCE;
    }

    /** Between any two devices rather than among all. */
    public boolean isCollective() {
      return this != POINT_TO_POINT;
    }
  }

  public CollectiveTiming {
    Check.that(devices >= 2, "devices=%d exchange nothing; measure two or more", devices);
    Check.positive(bytes, "bytes");
    Check.positive(seconds, "seconds");
  }

  /**
   * How many messages a device sends, one after the other (ParaDL §4.3): {@code 2(p−1)} in a ring
   * all-reduce, {@code p−1} in its halves and in an all-to-all.
   */
  public int steps() {
    return switch (kind) {
      case ALL_REDUCE -> 2 * (devices - 1);
      case ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL -> devices - 1;
      case POINT_TO_POINT -> 1;
      case BROADCAST, REDUCE ->
          throw new IllegalArgumentException(
              "a broadcast or a reduction to a root has no steps; measure an all-reduce");
    };
  }

  /** Bytes of one step's message. */
  public double stepBytes() {
    return kind.isCollective() ? bytes / devices : bytes;
  }

  /** Seconds of one step. */
  public double stepSeconds() {
    return seconds / steps();
  }
}

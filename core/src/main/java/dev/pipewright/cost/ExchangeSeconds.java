package dev.pipewright.cost;

import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.units.Precision;

/**
 * Seconds of an exchange within tensor-parallel groups, while all groups of the stage exchange at
 * once: the collective, and reading and writing what it gathers or sums.
 */
public final class ExchangeSeconds {
  /** Elements read or written for each that is gathered: the parts are joined. */
  private static final double JOINED = 2;

  /** The same for each that is summed: a copy is. */
  private static final double COPIED = 2;

  /** The same in a reduce-scatter: all parts become messages. */
  private static final double CUT = 2;

  /** In a reduce-scatter, for each term of the own part: it is added. */
  private static final double ADDED = 3;

  private final PartTimes times;
  private final Collectives groups;
  private final Collectives copies;
  private final Precision precision;
  private final int parts; // of each copy
  private final int owners; // of experts

  /**
   * @param times of the workload
   * @param groups all groups at once, or all {@linkplain Parallelism#copies copies} of them
   * @param copies those that exchange {@linkplain GroupExchange#betweenCopies between copies}
   * @param precision of what is sent
   * @param split of the layers
   */
  public ExchangeSeconds(
      PartTimes times,
      Collectives groups,
      Collectives copies,
      Precision precision,
      Parallelism split) {
    this.times = times;
    this.groups = groups;
    this.copies = copies;
    this.precision = precision;
    this.parts = split.pieces();
    this.owners = split.parts();
  }

  /**
   * Of one micro-batch.
   *
   * @param samples of the largest slice
   */
  public double of(GroupExchange exchange, int samples) {
    double elements = exchange.elements(samples);
    double bytes = bytes(elements);
    Collectives among = exchange.betweenCopies() ? copies : groups;
    return switch (exchange.kind()) {
      case SUM -> among.allReduce(bytes) + times.moving(COPIED * elements);
      case GATHER -> among.allGather(bytes) + times.moving(JOINED * elements);
      case SUM_PARTS -> among.reduceScatter(bytes) + times.moving((CUT + ADDED) * elements);
      case ALL_TO_ALL -> among.allToAll(bytes / owners) + times.moving(JOINED * elements / owners);
      case HALO -> halo(exchange, samples); // its rows belong to what a layer computes with
    };
  }

  /** A member sends its neighbours their rows one after the other. */
  private double halo(GroupExchange exchange, int samples) {
    double most = 0;
    for (long[] sent : exchange.handed().messages(parts)) {
      double seconds = 0;
      for (long elements : sent) {
        seconds += groups.pointToPoint(bytes((double) elements * samples));
      }
      most = Math.max(most, seconds);
    }
    return most;
  }

  private double bytes(double elements) {
    return elements * precision.bytes();
  }
}

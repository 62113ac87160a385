package dev.pipewright.cluster;

import dev.pipewright.units.Check;
import dev.pipewright.units.Precision;
import java.util.Optional;

/**
 * What the training software of a machine adds to its hardware, as far as it has been calibrated.
 *
 * @param waitingShare seconds that devices wait for slower ones, for each second of arithmetic
 * @param allReduce the algorithm of all collectives
 * @param fusesGroups whether gradients that only some devices sum with each other travel in one
 *     message, like those that all devices sum; otherwise layer by layer
 * @param fastConvolutions whether 3 × 3 convolutions in 32 bits run with fewer multiplications than
 *     their definition has (Winograd), which libraries choose only when they are asked to
 * @param overlap the share of a sum of gradients, of what has room beside computing, that slows
 *     neither: less than 1 where the same processor computes and carries messages
 * @param message what messages between stages take from the computing of both ends
 * @param precision the number format of the runs that the cluster was published with; empty where
 *     devices and network decide
 */
public record Software(
    double waitingShare,
    AllReduceAlgorithm allReduce,
    boolean fusesGroups,
    boolean fastConvolutions,
    double overlap,
    MessageOverhead message,
    Optional<Precision> precision) {
  /** Adds nothing. */
  public static final Software IDEAL = new Software(0, true, true);

  public Software {
    Check.amount(waitingShare, "share of waiting");
    Check.that(overlap >= 0 && overlap <= 1, "overlap is a share: overlap=%s", overlap);
  }

  /** Sums and messages that overlap with computation do not slow it. */
  public Software(double waitingShare, boolean fusesGroups, boolean fastConvolutions) {
    this(
        waitingShare,
        AllReduceAlgorithm.CHEAPEST,
        fusesGroups,
        fastConvolutions,
        1,
        MessageOverhead.NONE,
        Optional.empty());
  }

  /** Seconds of a pass for each second of its arithmetic on so many devices. */
  public double waiting(int devices) {
    return devices > 1 ? 1 + waitingShare : 1;
  }

  /** The same software with another algorithm of its collectives. */
  public Software with(AllReduceAlgorithm other) {
    return new Software(
        waitingShare, other, fusesGroups, fastConvolutions, overlap, message, precision);
  }

  public Software withOverlap(double share) {
    return new Software(
        waitingShare, allReduce, fusesGroups, fastConvolutions, share, message, precision);
  }

  public Software withMessage(MessageOverhead overhead) {
    return new Software(
        waitingShare, allReduce, fusesGroups, fastConvolutions, overlap, overhead, precision);
  }

  public Software withPrecision(Precision format) {
    return new Software(
        waitingShare,
        allReduce,
        fusesGroups,
        fastConvolutions,
        overlap,
        message,
        Optional.of(format));
  }
}

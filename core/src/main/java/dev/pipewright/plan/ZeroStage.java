package dev.pipewright.plan;

import dev.pipewright.schedule.Placement;
import java.util.Arrays;
import java.util.Optional;

/**
 * What data-parallel workers of a stage shard instead of replicating; each updates one part of the
 * parameters.
 *
 * <p>Paper: S. Rajbhandari, J. Rasley, O. Ruwase, Y. He, <i>ZeRO: Memory Optimizations Toward
 * Training Trillion Parameter Models</i>, SC 2020, arXiv:1910.02054, §5: its stages 1 (optimizer
 * state), 2 (also gradients) and 3 (also parameters).
 */
public enum ZeroStage {
  NOTHING(0),
  /** What the update rule remembers. */
  OPTIMIZER(1),
  /** Also sums of gradients: each worker gets its part of them behind each backward pass. */
  GRADIENTS(2),
  /** Also parameters: all get a layer's before each pass, and forget them behind it. */
  PARAMETERS(3);

  private final int level;

  ZeroStage(int level) {
    this.level = level;
  }

  /** The one with a number, from 0 for none to 3. */
  public static Optional<ZeroStage> of(int level) {
    return Arrays.stream(values()).filter(stage -> stage.level == level).findFirst();
  }

  /** The paper's number of it. */
  public int level() {
    return level;
  }

  /** Whether this much is shared out, or more. */
  public boolean atLeast(ZeroStage that) {
    return level >= that.level;
  }

  /** Why it cannot be done, in words for the user; empty where it can. */
  Optional<String> refusal(Assignment assignment) {
    if (this == NOTHING) {
      return Optional.empty();
    }
    if (assignment.asyncPipeline().isPresent()) {
      return Optional.of(
          "%s is asynchronous and updates each stage as a whole; leave it out"
              .formatted(assignment.asyncPipeline().get().name()));
    }
    Placement placement = assignment.schedule().placement();
    if (placement.chains() > 1 && atLeast(GRADIENTS)) {
      return Optional.of(
          "two ranks hold each stage of %s and come to it at different times; take 1"
              .formatted(assignment.schedule().name()));
    }
    int smallest = assignment.batch() / (assignment.schedule().microBatches() * placement.chains());
    for (int rank = 0; rank < placement.ranks() && this == PARAMETERS; rank++) {
      int replicas = assignment.replicas(rank);
      if (smallest < replicas) {
        return Optional.of(
            ("all replicas get parameters for each of their micro-batches, but one of %d samples"
                    + " leaves some of %d without any; take larger micro-batches, or 2")
                .formatted(smallest, replicas));
      }
    }
    return Optional.empty();
  }
}

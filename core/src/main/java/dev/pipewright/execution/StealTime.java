package dev.pipewright.execution;

import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * Processor time that the host of a virtual machine gave to other guests while programs here were
 * ready to run. Times measured meanwhile are longer by an unknown amount.
 *
 * @param share of the time that they were ready to use; 0 where the system does not say
 */
public record StealTime(double share) {
  /** What a machine does not notice in a median. */
  private static final double WORTH_SAYING = 0.01;

  public StealTime {
    Check.that(share >= 0 && share <= 1, "a share from 0 to 1: share=%s", share);
  }

  /** A sentence, where it is enough to be told. */
  public Optional<String> remark() {
    return share < WORTH_SAYING
        ? Optional.empty()
        : Optional.of(
            "the host gave %.0f %% of the processor time that programs were ready to use to others; measured times are that uncertain"
                .formatted(100 * share));
  }
}

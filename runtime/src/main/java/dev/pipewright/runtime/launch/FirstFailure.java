package dev.pipewright.runtime.launch;

import java.util.Optional;

/**
 * The one failure to name when several workers fail: of those that explain most, the first heard
 * of. News travels by several ways, so it waits a little where a better explanation may follow.
 */
final class FirstFailure {
  private static final long SETTLE_NANOSECONDS = 5_000_000_000L;

  private Optional<Failure> failure = Optional.empty();
  private long deadline;

  void heard(Failure other) {
    if (failure.isEmpty()) {
      deadline = System.nanoTime() + SETTLE_NANOSECONDS;
    }
    if (failure.isEmpty() || other.weight().compareTo(failure.get().weight()) > 0) {
      failure = Optional.of(other);
    }
  }

  /** The failure, once nothing better is to come. */
  Optional<Failure> settled() {
    return failure.filter(
        known -> known.weight() == Failure.Weight.CAUSE || System.nanoTime() - deadline >= 0);
  }
}

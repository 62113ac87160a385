package dev.pipewright.runtime.launch;

import java.util.Optional;

/**
 * The one failure to name when several workers fail: of those that explain most, the first heard
 * of. Reports arrive by several connections, so it waits a little where a better explanation may
 * follow.
 */
final class FirstFailure {
  private static final long SETTLE_NANOSECONDS = 5_000_000_000L;
  private static final long SIGNAL_NANOSECONDS = 300_000_000L; // until it has reached us, too

  private Optional<Failure> failure = Optional.empty();
  private long heard;

  void heard(Failure other) {
    if (failure.isEmpty()) {
      heard = System.nanoTime();
    }
    if (failure.isEmpty() || other.weight().compareTo(failure.get().weight()) > 0) {
      failure = Optional.of(other);
    }
  }

  /** The failure, once nothing better is to come. */
  Optional<Failure> settled() {
    return failure.filter(known -> System.nanoTime() - heard >= settling(known.weight()));
  }

  private static long settling(Failure.Weight weight) {
    return switch (weight) {
      case CAUSE -> 0;
      case SIGNAL -> SIGNAL_NANOSECONDS;
      case SILENCE, CONSEQUENCE -> SETTLE_NANOSECONDS;
    };
  }
}

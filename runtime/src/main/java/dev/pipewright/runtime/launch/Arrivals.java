package dev.pipewright.runtime.launch;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * For how long a coordinator waits for machines to join and for workers to come. Workers start at
 * the same time, so that one that has not come long after the last of the others has been stopped
 * or hangs. Times are nanoseconds of an {@link AwakeClock}.
 */
final class Arrivals {
  /** A Java machine may start so much later than another where the processors are busy. */
  private static final Duration LEAST = Duration.ofSeconds(10);

  private final Launch.Patience patience;
  private final long begin;
  private OptionalLong allMachines = OptionalLong.empty();
  private OptionalLong lastWorker = OptionalLong.empty();

  Arrivals(Launch.Patience patience, long now) {
    this.patience = patience;
    this.begin = now;
  }

  void haveAllMachines(long now) {
    allMachines = OptionalLong.of(now);
  }

  /** Whether all machines have joined. */
  boolean hasAllMachines() {
    return allMachines.isPresent();
  }

  void worker(long now) {
    lastWorker = OptionalLong.of(now);
  }

  /** How long machines that are missing have been waited for, where that is enough. */
  Optional<String> lateMachines(long now) {
    return late(patience.join(), now - begin);
  }

  /** How long workers that are missing have been waited for, where that is enough. */
  Optional<String> lateWorkers(long now) {
    long started = allMachines.orElseThrow();
    if (lastWorker.isEmpty()) {
      return late(patience.start(), now - started).map(seconds -> "within " + seconds);
    }
    Duration stall = patience.stall().compareTo(LEAST) > 0 ? patience.stall() : LEAST;
    return late(stall, now - Math.max(started, lastWorker.getAsLong()))
        .map(seconds -> "within " + seconds + " after the others: it has been stopped, or hangs");
  }

  private static Optional<String> late(Duration patience, long waited) {
    return waited < patience.toNanos()
        ? Optional.empty()
        : Optional.of(patience.toSeconds() + " s");
  }
}

package dev.pipewright.runtime.launch;

import java.util.Optional;
import java.util.Set;

/**
 * What one worker came to.
 *
 * @param weight the failure that explains others weighs more
 * @param at where it was, in words
 */
record Failure(
    int worker, Weight weight, String what, String at, Optional<Place> place, boolean badInput) {
  /** How much a failure explains, in rising order. */
  enum Weight {
    /** It lost another worker, which is the one to name. */
    CONSEQUENCE,
    /** It went away without a word; what ended it may still be heard. */
    SILENCE,
    /** A signal ended it that may be meant for the whole run. */
    SIGNAL,
    CAUSE
  }

  private static final int SIGNALS = 128;
  private static final int KILL = 9;

  /** Which may reach all processes of a terminal, a container or a batch job, and us as well. */
  private static final Set<Integer> OF_ALL = Set.of(1, 2, 15);

  /** The end of a worker that should not have ended. */
  static Failure ended(int worker, int status, String at, Optional<Place> place) {
    int signal = status - SIGNALS;
    String what =
        signal <= 0
            ? "exited with status " + status + " before it was done"
            : "was killed by signal "
                + signal
                + (signal == KILL ? " (the system does so when memory runs out)" : "");
    Weight weight = OF_ALL.contains(signal) ? Weight.SIGNAL : Weight.CAUSE;
    return new Failure(worker, weight, what, at, place, false);
  }

  /** {@code worker 2 (stage 1, backward of micro-batch 3 in step 17) was killed by signal 9}. */
  String sentence() {
    return "worker " + worker + " (" + at + ") " + what;
  }
}

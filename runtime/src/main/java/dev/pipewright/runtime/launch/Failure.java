package dev.pipewright.runtime.launch;

import java.util.Optional;

/**
 * What one worker came to.
 *
 * @param weight the failure that explains others weighs more
 */
record Failure(int worker, Weight weight, String what, Optional<Place> place, boolean badInput) {
  /** How much a failure explains, in rising order. */
  enum Weight {
    /** It lost another worker, which is the one to name. */
    CONSEQUENCE,
    /** It went away without a word; what ended it may still be heard. */
    SILENCE,
    CAUSE
  }

  private static final int SIGNALS = 128;
  private static final int KILL = 9;
  private static final int INTERRUPT = 2;

  /** The end of a worker that should not have ended. */
  static Failure ended(int worker, int status, Optional<Place> place) {
    int signal = status - SIGNALS;
    // Ctrl-C reaches all processes of a terminal, and us as well.
    Weight weight = signal == INTERRUPT ? Weight.SILENCE : Weight.CAUSE;
    String what =
        signal <= 0
            ? "exited with status " + status + " before it was done"
            : "was killed by signal "
                + signal
                + (signal == KILL ? " (the system does so when memory runs out)" : "");
    return new Failure(worker, weight, what, place, false);
  }

  /** {@code worker 2 (stage 1, backward of micro-batch 3 in step 17) was killed by signal 9}. */
  String sentence() {
    String at = place.map(known -> " (" + known + ")").orElse("");
    return "worker " + worker + at + " " + what;
  }
}

package dev.pipewright.runtime.launch;

/**
 * How long this process has been running, without the time for which it was stopped: what lies
 * between two readings counts for a second at most, so it is to be read more often.
 */
final class AwakeClock {
  private static final long MOST_NANOSECONDS = 1_000_000_000L;

  private long read = System.nanoTime();
  private long awake;

  /** Nanoseconds. */
  long now() {
    long time = System.nanoTime();
    awake += Math.min(time - read, MOST_NANOSECONDS);
    read = time;
    return awake;
  }
}

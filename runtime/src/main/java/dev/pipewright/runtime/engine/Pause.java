package dev.pipewright.runtime.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * Waits for very nearly the time that is asked for: a sleep ends some 60 µs late, so the rest is
 * waited for awake.
 */
final class Pause {
  private static final long AWAKE_NANOSECONDS = 100_000;

  private Pause() {}

  static void of(double seconds) {
    long end = System.nanoTime() + Math.round(seconds * 1e9);
    long left = end - System.nanoTime();
    while (left > 0) {
      if (left > AWAKE_NANOSECONDS) {
        LockSupport.parkNanos(left - AWAKE_NANOSECONDS);
      } else {
        Thread.onSpinWait();
      }
      left = end - System.nanoTime();
    }
  }
}

package dev.pipewright.runtime.launch;

/**
 * Which step is the last of a run that is to end early: one that no worker has gone beyond. To find
 * it, each worker is {@linkplain #hold held} and says which step it has begun; the largest is the
 * last, and those that have not come so far go on to it.
 */
public final class LastStep {
  private static final long NONE = -1;

  private long begun = NONE;
  private boolean held;
  private long last = Long.MAX_VALUE;

  /**
   * Whether to begin with a step, counted from 0; the first is always made. Waits while the
   * coordinator finds out which one is the last.
   */
  public synchronized boolean begins(long step) {
    try {
      while (held && begun != NONE && last == Long.MAX_VALUE) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    if (begun != NONE && step > last) {
      return false;
    }
    begun = step;
    return true;
  }

  /** The step that has begun, -1 for none; it begins no further one before the last is known. */
  public synchronized long hold() {
    held = true;
    return begun;
  }

  /** This is the last one, or the first where none has begun. */
  public synchronized void is(long step) {
    last = step;
    notifyAll();
  }
}

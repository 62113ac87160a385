package dev.pipewright.runtime.transport;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A message under way, at either of its ends. */
final class Delivery implements Pending {
  static final long PATIENCE_NANOSECONDS = TimeUnit.MINUTES.toNanos(30);

  private final TensorMemory memory;
  private final String what;
  private final int other;
  private final Waiting waiting;
  private boolean done;
  private @Nullable Throwable failure;

  /**
   * @param memory that is read or filled
   * @param what it is, for the sentence that says that it failed
   * @param other the worker at its other end
   */
  Delivery(TensorMemory memory, String what, int other, Waiting waiting) {
    this.other = other;
    this.waiting = waiting;
    this.memory = memory;
    this.what = what;
  }

  /** The worker at its other end. */
  int other() {
    return other;
  }

  TensorMemory memory() {
    return memory;
  }

  /** It has left, or arrived. */
  synchronized void end() {
    memory.close();
    done = true;
    notifyAll();
  }

  /** It never will. */
  synchronized void fail(Throwable cause) {
    memory.close();
    failure = cause;
    notifyAll();
  }

  @Override
  public synchronized boolean done() {
    return done;
  }

  @Override
  public synchronized void await() {
    if (done) {
      return;
    }
    waiting.begin(() -> other);
    try {
      awaitEnd();
    } finally {
      waiting.end();
    }
  }

  private synchronized void awaitEnd() {
    long begin = System.nanoTime();
    while (!done) {
      if (failure instanceof WrongMessageException wrong) {
        throw wrong;
      }
      if (failure != null) {
        throw new LostPeerException(
            what + " failed: a worker has stopped or is out of reach", failure);
      }
      long left = PATIENCE_NANOSECONDS - (System.nanoTime() - begin);
      if (left <= 0) {
        throw new LostPeerException(
            what
                + " failed: nothing came or went for "
                + TimeUnit.NANOSECONDS.toMinutes(PATIENCE_NANOSECONDS)
                + " minutes; see whether the other worker still runs",
            new TimeoutException());
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new LostPeerException("interrupted while " + what, e);
      }
    }
  }
}

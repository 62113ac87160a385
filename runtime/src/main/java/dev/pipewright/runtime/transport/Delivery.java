package dev.pipewright.runtime.transport;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A message under way, at either of its ends. */
final class Delivery implements Pending {
  private final TensorMemory memory;
  private final String what;
  private boolean done;
  private @Nullable Throwable failure;

  /**
   * @param memory that is read or filled
   * @param what it is, for the sentence that says that it failed
   */
  Delivery(TensorMemory memory, String what) {
    this.memory = memory;
    this.what = what;
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
    long patience = TimeUnit.MILLISECONDS.toNanos(AddressBook.PATIENCE_MILLISECONDS);
    long begin = System.nanoTime();
    while (!done) {
      if (failure != null) {
        throw new LostPeerException(
            what + " failed: a worker has stopped or is out of reach", failure);
      }
      long left = patience - (System.nanoTime() - begin);
      if (left <= 0) {
        throw new LostPeerException(
            what
                + " failed: nothing came or went for "
                + TimeUnit.NANOSECONDS.toMinutes(patience)
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

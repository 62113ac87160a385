package dev.pipewright.runtime.transport;

import java.util.List;

/**
 * A message or a collective operation under way. Its tensors must not be touched before its end.
 */
public interface Pending {
  /**
   * Several that are one operation.
   *
   * @param end what is left to do when they are done; the thread that awaits it does it
   */
  static Pending of(List<Pending> parts, Runnable end) {
    return new PendingMessages(parts, end);
  }

  /** Whether {@link #await} would return without waiting for another worker. */
  boolean done();

  /**
   * Returns when it is done.
   *
   * @throws LostPeerException when it never will be
   */
  void await();
}

package dev.pipewright.runtime.transport;

/**
 * A message or a collective operation under way. Its tensors must not be touched before its end.
 */
public interface Pending {
  boolean done();

  /**
   * Returns when it is done.
   *
   * @throws LostPeerException when it never will be
   */
  void await();
}

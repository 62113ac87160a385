package dev.pipewright.runtime.transport;

/** A message cannot arrive any more: the other worker has stopped, or the connection is lost. */
public final class LostPeerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public LostPeerException(String message, Throwable cause) {
    super(message, cause);
  }
}

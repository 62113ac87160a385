package dev.pipewright.runtime.transport;

/**
 * What came from another worker is not what it sent: an attacker on the network between them
 * interferes. The message is a sentence about it.
 */
public final class WrongMessageException extends RuntimeException {
  private static final long serialVersionUID = 1;

  WrongMessageException(int from, int to, Throwable cause) {
    super(
        "a frame from worker "
            + from
            + " to worker "
            + to
            + " has been changed, left out, repeated or put in another order on its way; see who"
            + " else has access to the network between them",
        cause);
  }
}

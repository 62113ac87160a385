package dev.pipewright.runtime.wire;

import java.io.IOException;

/** What came is not what the other end has sent, or not in its order. */
public final class WrongFrameException extends IOException {
  private static final long serialVersionUID = 1;

  WrongFrameException() {
    super("a frame has been changed, left out, repeated or put in another order");
  }

  WrongFrameException(Exception cause) {
    this();
    initCause(cause);
  }
}

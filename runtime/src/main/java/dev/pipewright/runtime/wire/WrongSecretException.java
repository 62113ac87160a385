package dev.pipewright.runtime.wire;

import java.io.IOException;

/** The other end knows another secret, or none. */
public final class WrongSecretException extends IOException {
  private static final long serialVersionUID = 1;

  WrongSecretException() {
    super("the other end does not know the secret");
  }
}

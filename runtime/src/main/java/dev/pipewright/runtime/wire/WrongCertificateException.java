package dev.pipewright.runtime.wire;

import java.io.IOException;

/** One end does not accept the certificate of the other, or only one end has any. */
public final class WrongCertificateException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * @param what a sentence whose subject is the other end
   */
  WrongCertificateException(String what) {
    super(what);
  }
}

package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Secret;
import dev.pipewright.runtime.wire.Tls;
import java.util.Optional;

/** The secret that lets a process take part. It is proved, never sent. */
record Token(String text) {
  /** The environment variable that hands it to workers: others cannot read it there. */
  static final String VARIABLE = "PIPEWRIGHT_TOKEN";

  static Token random() {
    return new Token(Secret.random().hex().substring(0, 32)); // 128 bits, for people to pass on
  }

  /** With the certificate of this machine, where the run has any. */
  Credentials with(Optional<Tls> tls) {
    return new Credentials(Secret.ofText(text), tls);
  }

  @Override
  public String toString() {
    return "a token";
  }
}

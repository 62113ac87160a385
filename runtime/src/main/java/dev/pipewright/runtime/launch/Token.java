package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.wire.Secret;

/** The secret that lets a process take part. It is proved, never sent. */
record Token(String text) {
  /** The environment variable that hands it to workers: others cannot read it there. */
  static final String VARIABLE = "PIPEWRIGHT_TOKEN";

  static Token random() {
    return new Token(Secret.random().hex().substring(0, 32)); // 128 bits, for people to pass on
  }

  Secret secret() {
    return Secret.ofText(text);
  }

  @Override
  public String toString() {
    return "a token";
  }
}

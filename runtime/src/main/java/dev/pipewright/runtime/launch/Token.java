package dev.pipewright.runtime.launch;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/** The secret that lets a process take part. */
record Token(String text) {
  /** The environment variable that hands it to workers: others cannot read it there. */
  static final String VARIABLE = "PIPEWRIGHT_TOKEN";

  private static final int BYTES = 16;

  static Token random() {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return new Token(HexFormat.of().formatHex(bytes));
  }

  /** Takes as long for a nearly right one as for any other. */
  boolean is(String other) {
    return MessageDigest.isEqual(
        text.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return "a token";
  }
}

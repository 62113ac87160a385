package dev.pipewright.runtime.wire;

import java.util.Optional;

/**
 * What a process proves to others of its run.
 *
 * @param tls its certificate, where the machines of the run have any
 */
public record Credentials(Secret secret, Optional<Tls> tls) {
  /** The secret alone. */
  public static Credentials of(Secret secret) {
    return new Credentials(secret, Optional.empty());
  }
}

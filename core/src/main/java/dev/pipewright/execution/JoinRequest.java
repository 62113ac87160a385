package dev.pipewright.execution;

import dev.pipewright.units.Check;
import dev.pipewright.units.Seconds;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A machine that is to work for a training run on another one.
 *
 * @param host of the coordinator
 * @param port where it listens
 * @param token the secret that lets this machine in
 * @param slots how many workers this machine takes at most
 * @param logs the folder for what they print; without one it is gone when the run ends
 * @param rank the machine's number where a launcher has numbered them: workers go to machines in
 *     this order; in the order in which they join where it is empty
 * @param patience how long to try until the coordinator listens; 0 to try once
 * @param returning how long to try where the coordinator has let this machine in before and nothing
 *     listens there any more
 * @param grace how long this machine goes on after an interrupt, which the coordinator may have
 *     received as well and then ends the run itself
 * @param certificates of this machine, with which it and the others know each other
 * @param again whether to join again where the run is restarted, or the connection has ended
 */
public record JoinRequest(
    String host,
    int port,
    String token,
    int slots,
    Optional<String> logs,
    OptionalInt rank,
    Seconds patience,
    Seconds returning,
    Seconds grace,
    Optional<CertificateFiles> certificates,
    boolean again) {
  public JoinRequest {
    Check.that(
        0 < port && port < 1 << 16 && slots >= 1,
        "a machine joins at a port with a slot or more: port=%d, slots=%d",
        port,
        slots);
  }

  /** A machine that a person has join. */
  public static JoinRequest once(
      String host, int port, String token, int slots, Optional<String> logs) {
    Seconds none = new Seconds(0);
    return new JoinRequest(
        host,
        port,
        token,
        slots,
        logs,
        OptionalInt.empty(),
        none,
        none,
        none,
        Optional.empty(),
        false);
  }

  /** The same with certificates, where there are any. */
  public JoinRequest with(Optional<CertificateFiles> files) {
    return new JoinRequest(
        host, port, token, slots, logs, rank, patience, returning, grace, files, again);
  }

  /** The address as people write it. */
  public String address() {
    return host + ":" + port;
  }

  @Override
  public String toString() {
    return "%d workers of %s".formatted(slots, address());
  }
}

package dev.pipewright.sim;

import dev.pipewright.units.Check;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule meets when it runs, in addition to the durations of its ops.
 *
 * @param transfers what messages between neighbour stages get in each other's way
 * @param slowdown how many times as long a rank computes while it sends, receives or exchanges; 1
 *     where communication costs computing nothing
 * @param lookAhead how many ops of its program another op may overtake while they wait; 0 where
 *     ranks keep to the order
 * @param jitter by how much durations differ from what is given; null where they do not
 * @param wires the links that messages between stages share, each of bandwidth 1: a message is as
 *     large as it takes seconds alone; null where they share none
 */
public record Conditions(
    Transfers transfers,
    double slowdown,
    int lookAhead,
    @Nullable Jitter jitter,
    @Nullable Wires wires) {
  /** What a message from one rank to another occupies. */
  public enum Transfers {
    /** Nothing: it is only late. */
    DELAYED,
    /** The way from its rank to the other: one message at a time, in the order they are sent. */
    QUEUED,
    /**
     * The sending rank, which computes nothing meanwhile. Exchanges of parameters and gradients
     * stop their ranks likewise: no communication overlaps with computation.
     */
    BLOCKING
  }

  /** Messages are late and everything takes as long as given. */
  public static final Conditions PLAIN = of(Transfers.DELAYED);

  public Conditions {
    Check.that(
        slowdown >= 1 && slowdown < Double.POSITIVE_INFINITY,
        "communication never makes computing faster: slowdown=%s",
        slowdown);
    Check.that(
        wires == null || transfers != Transfers.QUEUED,
        "messages that share links do not queue: transfers=%s",
        transfers);
    Check.that(lookAhead >= 0, "a rank looks ahead, not back: look_ahead=%d", lookAhead);
  }

  public static Conditions of(Transfers transfers) {
    return new Conditions(transfers, 1, 0, null, null);
  }

  public Conditions withSlowdown(double factor) {
    return new Conditions(transfers, factor, lookAhead, jitter, wires);
  }

  public Conditions withLookAhead(int ops) {
    return new Conditions(transfers, slowdown, ops, jitter, wires);
  }

  public Conditions withJitter(Jitter other) {
    return new Conditions(transfers, slowdown, lookAhead, other, wires);
  }

  public Conditions withWires(Wires other) {
    return new Conditions(transfers, slowdown, lookAhead, jitter, other);
  }

  /** Whether what happens does not depend on what else is under way. */
  boolean fixed() {
    return slowdown == 1 && lookAhead == 0 && wires == null;
  }

  /** How many times as long as given an op takes. */
  double factor(int rank, int position) {
    return jitter == null ? 1 : jitter.factor(rank, position);
  }

  boolean blocking() {
    return transfers == Transfers.BLOCKING;
  }
}

package dev.pipewright.cluster;

import dev.pipewright.units.Check;

/**
 * One level of the hierarchy: what joins the groups of the level below (at the innermost level: the
 * devices).
 *
 * @param name what one group of this level is called: {@code node}, {@code rack}, {@code cluster}
 * @param pointToPoint what one port achieves between two groups of the level below
 * @param collective what a ring through all members achieves per member and port (NCCL's bus
 *     bandwidth)
 * @param ports how many such flows a group of the level below carries at full rate: its network
 *     cards; for a rack the uplinks that over-subscription leaves, which need not be whole
 * @param achieved the share of that rate which training runs were seen to sustain; 1 where it was
 *     not calibrated
 */
public record Level(
    String name, Link pointToPoint, Link collective, double ports, double achieved) {
  public Level {
    Check.that(
        ports > 0 && Double.isFinite(ports),
        "a level needs ports to cross it: level=%s, ports=%s",
        name,
        ports);
    Check.that(
        achieved > 0 && achieved <= 1,
        "a level sustains some of its rate: level=%s, achieved=%s",
        name,
        achieved);
  }

  /** A level that sustains its rate. */
  public Level(String name, Link pointToPoint, Link collective, double ports) {
    this(name, pointToPoint, collective, ports, 1);
  }

  /** A level that one flow fills. */
  public Level(String name, Link pointToPoint, Link collective) {
    this(name, pointToPoint, collective, 1);
  }
}

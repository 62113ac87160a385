package dev.pipewright.sim;

import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * The links between ranks and which of them a message takes. A link carries all its messages at
 * once and shares its bandwidth among them.
 */
public final class Wires {
  /** The links from one rank to another; none from a rank to itself. */
  public interface Routes {
    int[] links(int from, int to);
  }

  private final double[] bandwidth; // bytes per second, by link
  private final double latency;
  private final Routes routes;

  private Wires(double[] bandwidth, double latency, Routes routes) {
    this.bandwidth = bandwidth;
    this.latency = latency;
    this.routes = routes;
  }

  /**
   * Any wiring.
   *
   * @param bandwidth bytes per second of each link
   * @param latency seconds before a message's first byte arrives
   */
  public static Wires of(double[] bandwidth, double latency, Routes routes) {
    for (double rate : bandwidth) {
      Check.positive(rate, "bandwidth");
    }
    Check.amount(latency, "latency");
    return new Wires(bandwidth.clone(), latency, routes);
  }

  /** A link of its own from every rank to every other: nothing is ever shared. */
  public static Wires direct(int ranks, double bandwidth, double latency) {
    double[] links = new double[Math.multiplyExact(ranks, ranks)];
    Arrays.fill(links, bandwidth);
    return of(links, latency, (from, to) -> new int[] {from * ranks + to});
  }

  /**
   * Ranks in nodes: those of a node have links of their own to each other, everything that leaves a
   * node shares its port out, everything that enters one its port in.
   */
  public static Wires nodes(int ranks, int perNode, double inside, double outside, double latency) {
    int nodes = Math.ceilDiv(ranks, perNode);
    int own = Math.multiplyExact(ranks, perNode);
    double[] links = new double[own + 2 * nodes];
    Arrays.fill(links, 0, own, inside);
    Arrays.fill(links, own, links.length, outside);
    return of(
        links,
        latency,
        (from, to) ->
            from / perNode == to / perNode
                ? new int[] {from * perNode + to % perNode}
                : new int[] {own + from / perNode, own + nodes + to / perNode});
  }

  int links() {
    return bandwidth.length;
  }

  double bandwidth(int link) {
    return bandwidth[link];
  }

  double latency() {
    return latency;
  }

  /** The links on the way: read only. */
  int[] route(int from, int to) {
    return routes.links(from, to);
  }
}

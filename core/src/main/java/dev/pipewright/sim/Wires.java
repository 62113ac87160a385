package dev.pipewright.sim;

import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * The links between ranks and which of them a message takes. A link carries all its messages at
 * once and shares its bandwidth among them.
 */
public final class Wires {
  private final double[] bandwidth; // bytes per second, by link
  private final double latency;
  private final int[][][] routes; // by sender and receiver

  private Wires(double[] bandwidth, double latency, int[][][] routes) {
    this.bandwidth = bandwidth;
    this.latency = latency;
    this.routes = routes;
  }

  /**
   * Any wiring.
   *
   * @param bandwidth bytes per second of each link
   * @param latency seconds before a message's first byte arrives
   * @param routes for each sender and receiver the links on the way, none for a rank to itself
   */
  public static Wires of(double[] bandwidth, double latency, int[][][] routes) {
    for (double rate : bandwidth) {
      Check.positive(rate, "bandwidth");
    }
    Check.amount(latency, "latency");
    return new Wires(bandwidth.clone(), latency, routes);
  }

  /** A link of its own from every rank to every other: nothing is ever shared. */
  public static Wires direct(int ranks, double bandwidth, double latency) {
    double[] links = new double[ranks * ranks];
    Arrays.fill(links, bandwidth);
    int[][][] routes = new int[ranks][ranks][];
    for (int from = 0; from < ranks; from++) {
      for (int to = 0; to < ranks; to++) {
        routes[from][to] = from == to ? new int[0] : new int[] {from * ranks + to};
      }
    }
    return of(links, latency, routes);
  }

  /**
   * Ranks in nodes: neighbours inside a node have links of their own, everything that leaves a node
   * shares its port out, everything that enters one its port in.
   */
  public static Wires nodes(int ranks, int perNode, double inside, double outside, double latency) {
    int nodes = Math.ceilDiv(ranks, perNode);
    int own = ranks * ranks;
    double[] links = new double[own + 2 * nodes];
    Arrays.fill(links, 0, own, inside);
    Arrays.fill(links, own, links.length, outside);
    int[][][] routes = new int[ranks][ranks][];
    for (int from = 0; from < ranks; from++) {
      for (int to = 0; to < ranks; to++) {
        boolean same = from / perNode == to / perNode;
        int[] ports = {own + from / perNode, own + nodes + to / perNode};
        routes[from][to] = from == to ? new int[0] : same ? new int[] {from * ranks + to} : ports;
      }
    }
    return of(links, latency, routes);
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
    return routes[from][to];
  }
}

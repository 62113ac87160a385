package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import java.util.Arrays;
import java.util.function.Function;

/**
 * The group of a given number of devices of a cluster that no real one outdoes: every algorithm at
 * its best placement, links at the best constants that they have for any size.
 */
final class BestGroup {
  private final Cluster cluster;
  private final int[] fanouts;
  private double leastLatency = Double.POSITIVE_INFINITY; // of a hierarchical all-reduce
  private double leastSecondsPerByte = Double.POSITIVE_INFINITY;

  private BestGroup(Cluster cluster) {
    this.cluster = cluster;
    this.fanouts = fanouts(cluster);
  }

  /** Times of collectives over at least two devices. */
  static GroupTimes times(Cluster cluster, int devices) {
    BestGroup best = new BestGroup(cluster);
    best.hierarchies(0, devices, 1, 0, 0);
    return GroupTimes.atLeast(
        devices,
        slowest(cluster, devices, Level::collective, true),
        slowest(cluster, devices, Level::pointToPoint, false),
        best.leastLatency,
        best.leastSecondsPerByte);
  }

  /**
   * The least constants among the levels that may be the slowest that is crossed.
   *
   * @param rings whether a message may leave through all ports at once
   */
  private static SharedLink slowest(
      Cluster cluster, int devices, Function<Level, Link> use, boolean rings) {
    int levels = cluster.levels().size();
    double latency = Double.POSITIVE_INFINITY;
    double perByte = Double.POSITIVE_INFINITY;
    for (int level = 0; level < levels; level++) {
      int largest = cluster.groups().get(level).stream().max(Integer::compare).orElseThrow();
      if (level == levels - 1 || largest >= devices) {
        Level here = cluster.levels().get(level);
        double ports = rings && level > 0 ? Math.max(1, here.ports()) : 1;
        SharedLink link = SharedLink.of(use.apply(here), 1 / ports);
        latency = Math.min(latency, link.leastLatency());
        perByte = Math.min(perByte, link.leastSecondsPerByte());
      }
    }
    return SharedLink.of(latency, perByte);
  }

  /** The most groups of the level below that a group of each level has. */
  private static int[] fanouts(Cluster cluster) {
    int[] all = new int[cluster.size()];
    Arrays.setAll(all, device -> device);
    Spread everybody = new Spread(cluster, all);
    int[] fanouts = new int[cluster.levels().size()];
    Arrays.setAll(fanouts, everybody::fanout);
    return fanouts;
  }

  /**
   * Tries all fan-outs from {@code level} outwards that reach {@code devices} groups there, after
   * levels that have scattered the message into {@code slices}.
   */
  private void hierarchies(int level, int devices, int slices, double latency, double perByte) {
    if (level == fanouts.length) {
      if (devices == 1) {
        leastLatency = Math.min(leastLatency, latency);
        leastSecondsPerByte = Math.min(leastSecondsPerByte, perByte);
      }
      return;
    }
    Level here = cluster.levels().get(level);
    SharedLink link = SharedLink.of(here.collective(), Math.max(1, slices / here.ports()));
    for (int fanout = 1; fanout <= Math.min(devices, fanouts[level]); fanout++) {
      int scattered = slices * fanout;
      int steps = 2 * (fanout - 1);
      hierarchies(
          level + 1,
          (devices + fanout - 1) / fanout,
          scattered,
          latency + steps * link.leastLatency(),
          perByte + steps * link.leastSecondsPerByte() / scattered);
    }
  }
}

package dev.pipewright.cost.strategy;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;

/**
 * Which devices of the cluster talk to each other: the devices of a group are neighbours, so that
 * groups fill nodes and data parallelism goes across (ParaDL §4.5).
 */
final class Placement {
  private final Cluster cluster;
  private final Layout layout;
  private final boolean achieved;

  private Placement(Cluster cluster, Layout layout, boolean achieved) {
    this.cluster = cluster;
    this.layout = layout;
    this.achieved = achieved;
  }

  /** With links as in the data sheet, one ring for each group: what formulas on paper assume. */
  static Placement onPaper(Cluster cluster, Layout layout) {
    return new Placement(cluster, layout, false);
  }

  /** With rings over all ports, at the share of the links' rates that runs sustain. */
  static Placement achieved(Cluster cluster, Layout layout) {
    return new Placement(cluster, layout, true);
  }

  private Collectives over(int[][] groups) {
    return achieved ? Collectives.achieved(cluster, groups) : Collectives.over(cluster, groups);
  }

  /** All devices. */
  Collectives everybody() {
    return over(new int[][] {run(0, 1, layout.devices())});
  }

  /** The devices of each group, all groups at the same time. */
  Collectives insideGroups() {
    int[][] groups = new int[layout.groups()][];
    for (int group = 0; group < groups.length; group++) {
      groups[group] = run(group * layout.parts(), 1, layout.parts());
    }
    return over(groups);
  }

  /** The devices that hold the same part of the network, for all parts at the same time. */
  Collectives acrossGroups() {
    int[][] peers = new int[layout.parts()][];
    for (int part = 0; part < peers.length; part++) {
      peers[part] = run(part, layout.parts(), layout.groups());
    }
    return over(peers);
  }

  /** The first device of each group. */
  Collectives leaders() {
    return over(new int[][] {run(0, layout.parts(), layout.groups())});
  }

  private static int[] run(int first, int step, int count) {
    int[] devices = new int[count];
    for (int i = 0; i < count; i++) {
      devices[i] = first + i * step;
    }
    return devices;
  }
}

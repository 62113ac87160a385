package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import java.util.List;

/**
 * How many flows of groups that communicate at the same time meet at each port.
 *
 * <p>Two ways to use a port: a ring crosses it once; the hierarchical forms cross it with one ring
 * for each slice that the levels below have scattered.
 */
final class PortFlows {
  private final Cluster cluster;
  private final int[] firstPorts; // by level: those before are not crossed
  private final int[][] rings; // by level and port
  private final int[][] slices;
  private final boolean achieved;

  /**
   * @param achieved whether groups open several rings, and links fall short of their rate
   */
  PortFlows(Cluster cluster, List<Spread> groups, boolean achieved) {
    this.cluster = cluster;
    this.achieved = achieved;
    int levels = cluster.levels().size();
    int first = groups.stream().mapToInt(Spread::firstDevice).min().orElse(0);
    int last = groups.stream().mapToInt(Spread::lastDevice).max().orElse(0);
    firstPorts = new int[levels];
    rings = new int[levels][];
    slices = new int[levels][];
    for (int level = 0; level < levels; level++) {
      firstPorts[level] = Spread.port(cluster, level, first);
      int ports = Spread.port(cluster, level, last) - firstPorts[level] + 1;
      rings[level] = new int[ports];
      slices[level] = new int[ports];
      for (Spread group : groups) {
        count(group, level);
      }
    }
  }

  private void count(Spread group, int level) {
    int slicesOfGroup = group.slices(level);
    int strands = strands(group);
    group.ports(
        level,
        port -> {
          rings[level][port - firstPorts[level]] += strands;
          slices[level][port - firstPorts[level]] += slicesOfGroup;
        });
  }

  /** How many rings a group opens, each with an equal part of the message. */
  int strands(Spread group) {
    return achieved ? group.strands() : 1;
  }

  /** φ: rings for each port at the busiest port of the level that the group crosses, at least 1. */
  double atBusiestPort(Spread group, int level) {
    return contention(group, level, rings[level]);
  }

  /** How many times longer than on a free link a byte of the whole message takes. */
  double ofRings(Spread group, int level) {
    return atBusiestPort(group, level) / strands(group) / share(level);
  }

  /** The same for hierarchical collectives, which open a ring for each slice. */
  double ofSlices(Spread group, int level) {
    return contention(group, level, slices[level]) / share(level);
  }

  /** φ where every group sends one message through the port. */
  double ofMessages(Spread group, int level) {
    double ports = cluster.levels().get(level).ports();
    return Math.max(1, atBusiestPort(group, level, rings[level]) / strands(group) / ports);
  }

  private double share(int level) {
    return achieved ? cluster.levels().get(level).achieved() : 1;
  }

  private double contention(Spread group, int level, int[] flows) {
    double ports = cluster.levels().get(level).ports();
    return Math.max(1, atBusiestPort(group, level, flows) / ports);
  }

  private double atBusiestPort(Spread group, int level, int[] flows) {
    int[] most = {0};
    group.ports(level, port -> most[0] = Math.max(most[0], flows[port - firstPorts[level]]));
    return most[0];
  }
}

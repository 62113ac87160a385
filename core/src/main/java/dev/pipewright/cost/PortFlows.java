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
  private final boolean achieved;
  private final boolean alone; // one group needs no counting
  private final int[] firstPorts; // by level: those before are not crossed
  private final int[][] rings; // by level and port
  private final int[][] slices;

  /**
   * Counts the flows of all groups.
   *
   * @param achieved whether groups open several rings, and links fall short of their rate
   */
  PortFlows(Cluster cluster, List<Spread> groups, boolean achieved) {
    this.cluster = cluster;
    this.achieved = achieved;
    this.alone = groups.size() == 1;
    int levels = alone ? 0 : cluster.levels().size();
    firstPorts = new int[levels];
    rings = new int[levels][];
    slices = new int[levels][];
    for (int level = 0; level < levels; level++) {
      int first = Integer.MAX_VALUE;
      int last = 0;
      for (Spread group : groups) {
        first = Math.min(first, Spread.port(cluster, level, group.firstDevice()));
        last = Math.max(last, Spread.port(cluster, level, group.lastDevice()));
      }
      firstPorts[level] = first;
      rings[level] = new int[last - first + 1];
      slices[level] = new int[last - first + 1];
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
  private int strands(Spread group) {
    return achieved ? group.strands() : 1;
  }

  private double ringsAtBusiestPort(Spread group, int level) {
    return alone ? strands(group) : busiest(group, level, rings[level]);
  }

  private double slicesAtBusiestPort(Spread group, int level) {
    return alone ? group.slices(level) : busiest(group, level, slices[level]);
  }

  private double busiest(Spread group, int level, int[] flows) {
    int[] most = {0};
    group.ports(level, port -> most[0] = Math.max(most[0], flows[port - firstPorts[level]]));
    return most[0];
  }

  /** How many times longer than on a free link a byte of the whole message takes, at least. */
  double ofRings(Spread group, int level) {
    double asynchronous = Math.max(1, ringsAtBusiestPort(group, level) / ports(level));
    return asynchronous / strands(group) / share(level);
  }

  /** The same for hierarchical collectives, which open a ring for each slice. */
  double ofSlices(Spread group, int level) {
    return Math.max(1, slicesAtBusiestPort(group, level) / ports(level)) / share(level);
  }

  /** φ where every group sends one message through the port. */
  double ofMessages(Spread group, int level) {
    double groups = ringsAtBusiestPort(group, level) / strands(group);
    return Math.max(1, groups / ports(level));
  }

  private double ports(int level) {
    return cluster.levels().get(level).ports();
  }

  private double share(int level) {
    return achieved ? cluster.levels().get(level).achieved() : 1;
  }
}

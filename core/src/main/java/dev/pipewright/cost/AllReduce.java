package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import java.util.Arrays;

/**
 * Seconds to sum gradients over a set of devices: the cheapest of a ring, a tree and a hierarchical
 * all-reduce.
 *
 * <p>Source: Hockney's model as in ParaDL (Kahira et al., HPDC 2021, §4.3); the hierarchical form
 * is a reduce-scatter inside each group, an all-reduce across groups and an all-gather inside, at
 * every level that the devices span. A ring or tree pays the slowest level it crosses; devices of a
 * group share the group's port, so the hierarchical form moves the whole message through it once.
 *
 * <p>Built in O(devices · levels), answers in O(1).
 */
public final class AllReduce {
  /** Nobody to sum with. */
  public static final AllReduce NONE = new AllReduce(1, 0, 0, 0, 0);

  private final int members;
  private final double slowestLatency;
  private final double slowestSecondsPerByte;
  private final double hierarchicalLatency;
  private final double hierarchicalSecondsPerByte;

  private AllReduce(
      int members,
      double slowestLatency,
      double slowestSecondsPerByte,
      double hierarchicalLatency,
      double hierarchicalSecondsPerByte) {
    this.members = members;
    this.slowestLatency = slowestLatency;
    this.slowestSecondsPerByte = slowestSecondsPerByte;
    this.hierarchicalLatency = hierarchicalLatency;
    this.hierarchicalSecondsPerByte = hierarchicalSecondsPerByte;
  }

  /** Over the given devices, ascending. */
  public static AllReduce over(Cluster cluster, int[] devices) {
    if (devices.length == 1) {
      return NONE;
    }
    double latency = 0;
    double perByte = 0;
    double hierarchicalLatency = 0;
    double hierarchicalPerByte = 0;
    for (int level = 0; level < cluster.levels().size(); level++) {
      int fanout = widestFanout(cluster, devices, level);
      if (fanout > 1) {
        Link link = cluster.levels().get(level).collective();
        double alpha = link.latency().value();
        double beta = 1 / link.bandwidth().value();
        latency = Math.max(latency, alpha);
        perByte = Math.max(perByte, beta);
        hierarchicalLatency += 2 * (fanout - 1) * alpha;
        hierarchicalPerByte += 2 * (fanout - 1) * beta / fanout;
      }
    }
    return new AllReduce(
        devices.length, latency, perByte, hierarchicalLatency, hierarchicalPerByte);
  }

  /**
   * No set of this many devices of the cluster sums faster, each way of summing taken at its best:
   * a lower bound for searches.
   */
  public static AllReduce atBest(Cluster cluster, int devices) {
    if (devices == 1) {
      return NONE;
    }
    int levels = cluster.levels().size();
    double latency = Double.POSITIVE_INFINITY;
    double perByte = Double.POSITIVE_INFINITY;
    for (int level = 0; level < levels; level++) {
      int largest = cluster.groups().get(level).stream().max(Integer::compare).orElseThrow();
      if (level == levels - 1 || largest >= devices) { // may be the slowest that is crossed
        Link link = cluster.levels().get(level).collective();
        latency = Math.min(latency, link.latency().value());
        perByte = Math.min(perByte, 1 / link.bandwidth().value());
      }
    }
    double[] least = {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY};
    hierarchies(cluster, fanouts(cluster), 0, devices, 0, 0, least);
    return new AllReduce(devices, latency, perByte, least[0], least[1]);
  }

  /** The most groups of the level below that a group of each level has. */
  private static int[] fanouts(Cluster cluster) {
    int[] all = new int[cluster.size()];
    Arrays.setAll(all, device -> device);
    int[] fanouts = new int[cluster.levels().size()];
    Arrays.setAll(fanouts, level -> widestFanout(cluster, all, level));
    return fanouts;
  }

  /** Tries all fan-outs from {@code level} outwards that reach {@code devices} groups there. */
  private static void hierarchies(
      Cluster cluster,
      int[] fanouts,
      int level,
      int devices,
      double latency,
      double perByte,
      double[] least) {
    if (level == fanouts.length) {
      if (devices == 1) {
        least[0] = Math.min(least[0], latency);
        least[1] = Math.min(least[1], perByte);
      }
      return;
    }
    Link link = cluster.levels().get(level).collective();
    for (int fanout = 1; fanout <= Math.min(devices, fanouts[level]); fanout++) {
      hierarchies(
          cluster,
          fanouts,
          level + 1,
          (devices + fanout - 1) / fanout,
          latency + 2 * (fanout - 1) * link.latency().value(),
          perByte + 2 * (fanout - 1) / link.bandwidth().value() / fanout,
          least);
    }
  }

  /**
   * The most groups of the level below that any one group of {@code level} has among the devices.
   */
  private static int widestFanout(Cluster cluster, int[] devices, int level) {
    int widest = 0;
    int fanout = 0;
    for (int i = 0; i < devices.length; i++) {
      boolean sameGroup =
          i > 0 && cluster.group(level, devices[i]) == cluster.group(level, devices[i - 1]);
      boolean sameMember =
          i > 0
              && level > 0
              && cluster.group(level - 1, devices[i]) == cluster.group(level - 1, devices[i - 1]);
      if (!sameGroup) {
        fanout = 0;
      }
      if (!sameMember) {
        fanout++;
      }
      widest = Math.max(widest, fanout);
    }
    return widest;
  }

  /** {@code 2(p−1)(α + (m/p)β)} at the slowest level crossed. */
  public double ringSeconds(double bytes) {
    return 2 * (members - 1) * (slowestLatency + bytes / members * slowestSecondsPerByte);
  }

  /** {@code 2(⌈log2 p⌉ + k)(α + (m/2k)β)} with the number of chunks k that makes it least. */
  public double treeSeconds(double bytes) {
    int depth = 32 - Integer.numberOfLeadingZeros(members - 1);
    double ideal = Math.sqrt(depth * bytes * slowestSecondsPerByte / (2 * slowestLatency));
    double chunks = slowestLatency == 0 ? Double.POSITIVE_INFINITY : Math.max(1, Math.floor(ideal));
    if (Double.isInfinite(chunks)) {
      return bytes * slowestSecondsPerByte; // free messages: arbitrarily many chunks
    }
    return Math.min(treeSeconds(bytes, depth, chunks), treeSeconds(bytes, depth, chunks + 1));
  }

  private double treeSeconds(double bytes, int depth, double chunks) {
    return 2 * (depth + chunks) * (slowestLatency + bytes / (2 * chunks) * slowestSecondsPerByte);
  }

  /** The sum over levels of {@code 2(k−1)(α + (m/k)β)} for k groups. */
  public double hierarchicalSeconds(double bytes) {
    return hierarchicalLatency + bytes * hierarchicalSecondsPerByte;
  }

  /** The cheapest way; 0 for a single device or nothing to sum. */
  public double seconds(double bytes) {
    if (members == 1 || bytes == 0) {
      return 0;
    }
    return Math.min(hierarchicalSeconds(bytes), Math.min(ringSeconds(bytes), treeSeconds(bytes)));
  }
}

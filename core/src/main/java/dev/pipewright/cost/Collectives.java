package dev.pipewright.cost;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Seconds that collectives take on a group of devices, or on several groups that all run the same
 * one at the same time: then for the slowest of them. Bytes are the full buffer of each member.
 *
 * <p>Source: Hockney's model as in ParaDL (Kahira et al., HPDC 2021, §4.3). A ring or tree pays the
 * slowest level that it crosses. The hierarchical forms reduce-scatter inside each group, go across
 * groups, and all-gather inside, at every level that the members span.
 *
 * <p><b>Contention</b> φ divides the bandwidth of a link by the flows that share it (ibid.). Here
 * it follows from the placement: at every level, the groups whose rings cross the busiest port,
 * over the level's ports. ParaDL's example: two nodes of four devices with two network cards, data
 * parallel across the nodes and filter parallel inside, so four rings, two on a card: φ = 2. A
 * group that crosses a level only farther out is not counted at the nearer one.
 *
 * <p><b>Trees</b>: two of them with half of the message each, every member inside at most one (P.
 * Sanders, J. Speck, J. L. Träff, <i>Two-tree algorithms for full bandwidth broadcast, reduction
 * and scan</i>, Parallel Computing 35 (2009)), first to the root, then back. ParaDL's footnote 4
 * quotes {@code 2(⌈log2 p⌉ + k)(α + (m/2k)β)} for an all-reduce. For large messages that tends to
 * mβ, less than the {@code 2m(p−1)/p · β} that a port must carry in any all-reduce. A member hears
 * two children through one port, so the time is {@code 2(h + k − 1)(α + 2φ(m/2k)β)} for p &gt; 2,
 * with the depth {@code h = ⌈log2 p⌉}, at several levels the sum over them. The published form
 * remains as {@link #publishedTreeAllReduce}. Like a ring, a tree leaves further ports to other
 * flows.
 *
 * <p>Built in O(devices · levels), or O(cluster · levels) for several groups; answers in O(levels)
 * where one pair of constants describes a link.
 */
public final class Collectives {
  /** A device that communicates with no other. */
  public static final Collectives NONE =
      new Collectives(new GroupTimes[0], new double[0], AllReduceAlgorithm.CHEAPEST);

  private final GroupTimes[] groups; // that differ
  private final double[] contention; // by level, 0 where no group crosses it
  private final AllReduceAlgorithm algorithm;

  private Collectives(GroupTimes[] groups, double[] contention, AllReduceAlgorithm algorithm) {
    this.groups = groups;
    this.contention = contention;
    this.algorithm = algorithm;
  }

  /** Over the given devices, ascending, while no other group communicates. */
  public static Collectives over(Cluster cluster, int[] devices) {
    return over(cluster, new int[][] {devices});
  }

  /**
   * Over groups of devices, each ascending, that all do the same at the same time: one ring for
   * each group, links at their rate.
   */
  public static Collectives over(Cluster cluster, int[][] groups) {
    return over(cluster, groups, false);
  }

  /**
   * The same as collective libraries run it: a group opens as many rings as it has devices in a
   * node and the node has ports, each with its part of the message, and links sustain {@link
   * dev.pipewright.cluster.Level#achieved} of their rate. The algorithm is that of the cluster's
   * {@link dev.pipewright.cluster.Software#allReduce}.
   */
  public static Collectives achieved(Cluster cluster, int[][] groups) {
    return over(cluster, groups, true);
  }

  /** The same for one group, while no other communicates. */
  public static Collectives achieved(Cluster cluster, int[] devices) {
    return achieved(cluster, new int[][] {devices});
  }

  private static Collectives over(Cluster cluster, int[][] groups, boolean achieved) {
    List<Spread> spreads = new ArrayList<>();
    for (int[] devices : groups) {
      Check.that(devices.length > 0, "a group needs a device: cluster=%s", cluster.name());
      if (devices.length > 1) {
        spreads.add(new Spread(cluster, devices));
      }
    }
    if (spreads.isEmpty()) {
      return NONE;
    }
    PortFlows flows = new PortFlows(cluster, spreads, achieved);
    double[] contention = new double[cluster.levels().size()];
    Set<Shape> shapes = new LinkedHashSet<>();
    for (Spread group : spreads) {
      List<GroupTimes.Crossing> crossings = new ArrayList<>();
      for (int level = 0; level < contention.length; level++) {
        if (group.crosses(level)) {
          double rings = flows.ofRings(group, level);
          contention[level] = Math.max(contention[level], flows.ofMessages(group, level));
          crossings.add(
              new GroupTimes.Crossing(
                  cluster.levels().get(level),
                  group.fanout(level),
                  group.slices(level),
                  flows.ofMessages(group, level),
                  rings,
                  flows.ofSlices(group, level)));
        }
      }
      shapes.add(new Shape(group.members(), crossings));
    }
    GroupTimes[] times = new GroupTimes[shapes.size()];
    int next = 0;
    for (Shape shape : shapes) {
      times[next++] = GroupTimes.of(shape.members(), shape.crossings());
    }
    return new Collectives(
        times, contention, achieved ? cluster.software().allReduce() : AllReduceAlgorithm.CHEAPEST);
  }

  /** All that times depend on. */
  private record Shape(int members, List<GroupTimes.Crossing> crossings) {}

  /**
   * No set of this many devices of the cluster is faster, each algorithm taken at its best: a lower
   * bound for searches.
   */
  public static Collectives atBest(Cluster cluster, int devices) {
    if (devices == 1) {
      return NONE;
    }
    return new Collectives(
        new GroupTimes[] {BestGroup.times(cluster, devices)},
        new double[cluster.levels().size()],
        AllReduceAlgorithm.CHEAPEST);
  }

  /** Members of the largest group. */
  public int members() {
    int members = 1;
    for (GroupTimes group : groups) {
      members = Math.max(members, group.members());
    }
    return members;
  }

  /** The largest φ of rings over all levels. */
  public double contention() {
    double largest = 1;
    for (double here : contention) {
      largest = Math.max(largest, here);
    }
    return largest;
  }

  /** φ of rings at one level; 1 where no group crosses it. */
  public double contention(int level) {
    return level < contention.length ? Math.max(1, contention[level]) : 1;
  }

  /** {@code 2(p−1)(α + (m/p)φβ)} at the slowest level crossed. */
  public double ringAllReduce(double bytes) {
    return 2 * ringAllGather(bytes);
  }

  /** {@code (p−1)(α + (m/p)φβ)} at the slowest level crossed; m bytes are gathered. */
  public double ringAllGather(double bytes) {
    double slowest = 0;
    for (GroupTimes group : groups) {
      slowest = Math.max(slowest, group.ringOnce(bytes));
    }
    return slowest;
  }

  /** The same as an all-gather; m bytes are scattered. */
  public double ringReduceScatter(double bytes) {
    return ringAllGather(bytes);
  }

  /**
   * {@code 2(h + k − 1)(α + 2φ(m/2k)β)} with the best number of chunks k; without the 2 for p = 2.
   */
  public double treeAllReduce(double bytes) {
    return 2 * reduce(bytes);
  }

  /** {@code 2(⌈log2 p⌉ + k)(α + φ(m/2k)β)} with the best number of chunks k; see above. */
  public double publishedTreeAllReduce(double bytes) {
    double slowest = 0;
    for (GroupTimes group : groups) {
      slowest = Math.max(slowest, group.publishedTreeOnce(bytes));
    }
    return 2 * slowest;
  }

  /** The sum over levels of {@code 2(f−1)(α + (m/nf)φβ)} for f groups, in each of which n rings. */
  public double hierarchicalAllReduce(double bytes) {
    return 2 * hierarchicalAllGather(bytes);
  }

  /** Across the outermost level first, then inwards. */
  public double hierarchicalAllGather(double bytes) {
    double slowest = 0;
    for (GroupTimes group : groups) {
      slowest = Math.max(slowest, group.hierarchicalOnce(bytes));
    }
    return slowest;
  }

  /** Inside first, then outwards. */
  public double hierarchicalReduceScatter(double bytes) {
    return hierarchicalAllGather(bytes);
  }

  /** To one member, by trees: half of an all-reduce. */
  public double reduce(double bytes) {
    double slowest = 0;
    if (bytes > 0) {
      for (GroupTimes group : groups) {
        slowest = Math.max(slowest, group.treeOnce(bytes));
      }
    }
    return slowest;
  }

  /** From one member, by trees: half of an all-reduce. */
  public double broadcast(double bytes) {
    return reduce(bytes);
  }

  /** From each member to the next at the slowest level crossed. */
  public double pointToPoint(double bytes) {
    double slowest = 0;
    if (bytes > 0) {
      for (GroupTimes group : groups) {
        slowest = Math.max(slowest, group.pointToPoint(bytes));
      }
    }
    return slowest;
  }

  /** By the algorithm of the library; 0 for a single member or nothing to sum. */
  public double allReduce(double bytes) {
    if (bytes == 0) {
      return 0;
    }
    return switch (algorithm) {
      case CHEAPEST -> cheapestAllReduce(bytes);
      case RING -> ringAllReduce(bytes);
      case TREE -> treeAllReduce(bytes);
      case HIERARCHICAL -> hierarchicalAllReduce(bytes);
    };
  }

  private double cheapestAllReduce(double bytes) {
    double withoutTrees = scatter(bytes);
    return 2
        * (treesMayWin(bytes, withoutTrees) ? Math.min(withoutTrees, reduce(bytes)) : withoutTrees);
  }

  /** Spares large messages the search for the number of chunks. */
  private boolean treesMayWin(double bytes, double limit) {
    for (GroupTimes group : groups) {
      if (group.treeOnceAtLeast(bytes) >= limit) {
        return false;
      }
    }
    return true;
  }

  /** By the algorithm of the library; 0 for a single member or nothing to gather. */
  public double allGather(double bytes) {
    if (bytes == 0) {
      return 0;
    }
    return switch (algorithm) {
      case CHEAPEST -> scatter(bytes);
      case RING, TREE -> ringAllGather(bytes);
      case HIERARCHICAL -> hierarchicalAllGather(bytes);
    };
  }

  /**
   * Every member sends each other one its part of m bytes: over levels the sum of {@code s(f−1)(α +
   * (m/p)φβ)} where f groups of s members each send to each other. A port carries the messages of
   * all members behind it, which share nothing as a ring's do.
   */
  public double allToAll(double bytes) {
    double slowest = 0;
    if (bytes > 0) {
      for (GroupTimes group : groups) {
        slowest = Math.max(slowest, group.allToAll(bytes));
      }
    }
    return slowest;
  }

  /** The same as an all-gather, towards the members' parts of the sum. */
  public double reduceScatter(double bytes) {
    return allGather(bytes);
  }

  private double scatter(double bytes) {
    return Math.min(ringAllGather(bytes), hierarchicalAllGather(bytes));
  }
}

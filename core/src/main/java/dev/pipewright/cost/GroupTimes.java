package dev.pipewright.cost;

import dev.pipewright.cluster.Level;
import java.util.ArrayList;
import java.util.List;

/** The formulas of {@link Collectives} for one group of devices. */
final class GroupTimes {
  /**
   * What a group crosses at one level.
   *
   * @param fanout groups of the level below that take part, in the fullest group of this level
   * @param slices into how many parts the levels below have scattered a message
   * @param messages φ where every group sends one message
   * @param rings φ of the rings that the groups run, for a byte of a group's whole message
   * @param slicedRings φ where every group runs one ring for each slice
   */
  record Crossing(
      Level level, int fanout, int slices, double messages, double rings, double slicedRings) {}

  /** Messages of one size across a level: a hierarchical ring's, or those of an all-to-all. */
  private record Across(int steps, double parts, SharedLink link) {
    double seconds(double bytes) {
      return steps * link.seconds(bytes / parts);
    }
  }

  private final int members;
  private final SharedLink[] ring;
  private final SharedLink[] direct;
  private final ChunkedPipeline tree;
  private final ChunkedPipeline publishedTree;
  private final Across[] hierarchy;
  private final Across[] toAll;

  private GroupTimes(
      int members,
      SharedLink[] ring,
      SharedLink[] direct,
      ChunkedPipeline tree,
      ChunkedPipeline publishedTree,
      Across[] hierarchy,
      Across[] toAll) {
    this.members = members;
    this.ring = ring;
    this.direct = direct;
    this.tree = tree;
    this.publishedTree = publishedTree;
    this.hierarchy = hierarchy;
    this.toAll = toAll;
  }

  static GroupTimes of(int members, List<Crossing> crossings) {
    List<SharedLink> ring = new ArrayList<>();
    List<SharedLink> direct = new ArrayList<>();
    List<SharedLink> tree = new ArrayList<>();
    List<Across> hierarchy = new ArrayList<>();
    List<Across> toAll = new ArrayList<>();
    int depth = 0;
    for (Crossing crossing : crossings) {
      Level level = crossing.level();
      ring.add(SharedLink.of(level.collective(), crossing.rings()));
      direct.add(SharedLink.of(level.pointToPoint(), crossing.messages()));
      tree.add(SharedLink.of(level.collective(), treeFlows(members) * crossing.rings()));
      SharedLink sliced = SharedLink.of(level.collective(), crossing.slicedRings());
      int others = crossing.fanout() - 1;
      double parts = (double) crossing.slices() * crossing.fanout();
      hierarchy.add(new Across(others, parts, sliced));
      toAll.add(new Across(others * crossing.slices(), members, sliced));
      depth += depth(crossing.fanout());
    }
    SharedLink[] slowestRing = slowest(ring);
    return new GroupTimes(
        members,
        slowestRing,
        slowest(direct),
        new ChunkedPipeline(depth - 1, slowest(tree)),
        new ChunkedPipeline(depth(members), slowestRing),
        hierarchy.toArray(Across[]::new),
        toAll.toArray(Across[]::new));
  }

  /**
   * A lower bound of groups that have so many members, from the least that a message takes at the
   * slowest level that they cross, and that each byte adds to a hierarchical all-reduce.
   */
  static GroupTimes atLeast(
      int members, SharedLink ring, SharedLink direct, double latency, double secondsPerByte) {
    SharedLink[] links = {ring};
    double flows = treeFlows(members);
    SharedLink shared = SharedLink.of(ring.latency(0), flows * ring.secondsPerByte(0));
    return new GroupTimes(
        members,
        links,
        new SharedLink[] {direct},
        new ChunkedPipeline(depth(members) - 1, new SharedLink[] {shared}),
        new ChunkedPipeline(depth(members), links),
        new Across[] {new Across(1, 1, SharedLink.of(latency / 2, secondsPerByte / 2))},
        new Across[] {new Across(members - 1, members, SharedLink.of(0, ring.secondsPerByte(0)))});
  }

  /** Flows of the two trees at one port: a member passes on what two others send, or sends two. */
  private static int treeFlows(int members) {
    return members == 2 ? 1 : 2;
  }

  /** {@code ⌈log2 members⌉}. */
  private static int depth(int members) {
    return 32 - Integer.numberOfLeadingZeros(members - 1);
  }

  /** Without the links that never set the pace. */
  private static SharedLink[] slowest(List<SharedLink> links) {
    List<SharedLink> kept = new ArrayList<>();
    for (SharedLink link : links) {
      boolean outdone = false;
      for (SharedLink other : kept) {
        outdone |= other.neverFasterThan(link);
      }
      if (!outdone) {
        kept.removeIf(link::neverFasterThan);
        kept.add(link);
      }
    }
    return kept.toArray(SharedLink[]::new);
  }

  int members() {
    return members;
  }

  /** One way around the ring. */
  double ringOnce(double bytes) {
    return (members - 1) * SharedLink.slowest(ring, bytes / members);
  }

  double treeOnce(double bytes) {
    return tree.seconds(bytes / 2);
  }

  /** A quick lower bound of {@link #treeOnce}. */
  double treeOnceAtLeast(double bytes) {
    return tree.atLeast(bytes / 2);
  }

  double publishedTreeOnce(double bytes) {
    return publishedTree.seconds(bytes / 2);
  }

  /** A reduce-scatter inwards out or an all-gather outwards in. */
  double hierarchicalOnce(double bytes) {
    return sum(hierarchy, bytes);
  }

  /** Every member sends each other one its part. */
  double allToAll(double bytes) {
    return sum(toAll, bytes);
  }

  private static double sum(Across[] levels, double bytes) {
    double seconds = 0;
    for (Across across : levels) {
      seconds += across.seconds(bytes);
    }
    return seconds;
  }

  double pointToPoint(double bytes) {
    return SharedLink.slowest(direct, bytes);
  }
}

package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Which devices of the cluster talk to each other: the devices of a group are neighbours, so that
 * groups fill nodes and data parallelism goes across (ParaDL §4.5). Strategies with as many groups
 * and parts share the answers.
 */
final class GroupPlacement {
  private final Cluster cluster;
  private final Map<Key, Collectives> known = new HashMap<>();

  private enum Who {
    EVERYBODY,
    INSIDE_GROUPS,
    ACROSS_GROUPS,
    LEADERS
  }

  private record Key(Who who, int groups, int parts) {}

  /** With links as in the data sheet, one ring for each group: what formulas on paper assume. */
  GroupPlacement(Cluster cluster) {
    this.cluster = cluster;
  }

  private Collectives find(Who who, Layout layout, Function<Layout, int[][]> groups) {
    return known.computeIfAbsent(
        new Key(who, layout.groups(), layout.groupSize()),
        key -> Collectives.over(cluster, groups.apply(layout)));
  }

  /** All devices. */
  Collectives everybody(Layout layout) {
    return find(Who.EVERYBODY, layout, l -> new int[][] {run(0, 1, l.devices())});
  }

  /** The devices of each group, all groups at the same time. */
  Collectives insideGroups(Layout layout) {
    return find(
        Who.INSIDE_GROUPS,
        layout,
        l -> {
          int[][] groups = new int[l.groups()][];
          for (int group = 0; group < groups.length; group++) {
            groups[group] = run(group * l.groupSize(), 1, l.groupSize());
          }
          return groups;
        });
  }

  /** The devices that hold the same part of the network, for all parts at the same time. */
  Collectives acrossGroups(Layout layout) {
    return find(
        Who.ACROSS_GROUPS,
        layout,
        l -> {
          int[][] peers = new int[l.groupSize()][];
          for (int part = 0; part < peers.length; part++) {
            peers[part] = run(part, l.groupSize(), l.groups());
          }
          return peers;
        });
  }

  /** The first device of each group. */
  Collectives leaders(Layout layout) {
    return find(Who.LEADERS, layout, l -> new int[][] {run(0, l.groupSize(), l.groups())});
  }

  private static int[] run(int first, int step, int count) {
    int[] devices = new int[count];
    for (int i = 0; i < count; i++) {
      devices[i] = first + i * step;
    }
    return devices;
  }
}

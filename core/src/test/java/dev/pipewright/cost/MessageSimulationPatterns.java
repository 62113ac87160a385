package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Collectives written out as messages, for {@link MessageSimulation}. */
final class MessageSimulationPatterns {
  private final MessageSimulation simulation;
  private final Cluster cluster;
  private final List<List<Integer>> done = new ArrayList<>(); // by device: what it waits for

  MessageSimulationPatterns(MessageSimulation simulation, Cluster cluster) {
    this.simulation = simulation;
    this.cluster = cluster;
    for (int device = 0; device < cluster.size(); device++) {
      done.add(List.of());
    }
  }

  void ringAllReduce(int[] members, double bytes) {
    ring(members, bytes / members.length, 2 * (members.length - 1));
  }

  /** An all-gather or a reduce-scatter. */
  void ringOnce(int[] members, double bytes) {
    ring(members, bytes / members.length, members.length - 1);
  }

  private void ring(int[] members, double bytes, int steps) {
    List<List<Integer>> now = ringAfter(members, bytes, steps, done);
    for (int i = 0; i < members.length; i++) {
      done.set(members[i], now.get(i));
    }
  }

  /**
   * Every member sends to the next in every step, what it has received in the step before. Returns
   * what each member has sent and received last.
   */
  private List<List<Integer>> ringAfter(
      int[] members, double bytes, int steps, List<List<Integer>> before) {
    List<List<Integer>> waits = new ArrayList<>();
    for (int member : members) {
      waits.add(before.get(member));
    }
    for (int step = 0; step < steps; step++) {
      List<Integer> sent = new ArrayList<>();
      for (int i = 0; i < members.length; i++) {
        int next = members[(i + 1) % members.length];
        sent.add(simulation.send(members[i], next, bytes, waits.get(i)));
      }
      for (int i = 0; i < members.length; i++) {
        int fromBefore = sent.get((i + members.length - 1) % members.length);
        waits.set(i, List.of(sent.get(i), fromBefore));
      }
    }
    return waits;
  }

  /**
   * Reduce-scatter outwards, all-gather inwards, by one ring for each slice and group of a level.
   * Where groups are uneven, the numbers of their members must divide the largest.
   */
  void hierarchicalAllReduce(int[] members, double bytes) {
    List<List<int[]>> ringsByLevel = new ArrayList<>();
    List<int[]> holders = new ArrayList<>(); // by group: the device that looks after each slice
    for (int member : members) {
      holders.add(new int[] {member});
    }
    List<Integer> slices = new ArrayList<>();
    for (int level = 0; level < cluster.levels().size(); level++) {
      List<int[]> rings = new ArrayList<>();
      slices.add(holders.get(0).length);
      holders = outwards(level, holders, rings);
      ringsByLevel.add(rings);
    }
    for (int level = 0; level < slices.size(); level++) {
      across(ringsByLevel.get(level), bytes / slices.get(level));
    }
    for (int level = slices.size() - 1; level >= 0; level--) {
      across(ringsByLevel.get(level), bytes / slices.get(level));
    }
  }

  /** Joins those that share a group of the level, noting the rings that this takes. */
  private List<int[]> outwards(int level, List<int[]> holders, List<int[]> rings) {
    List<List<int[]>> groups = new ArrayList<>();
    int last = -1;
    for (int[] inside : holders) {
      int group = cluster.group(level, inside[0]);
      if (group != last) {
        groups.add(new ArrayList<>());
      }
      groups.get(groups.size() - 1).add(inside);
      last = group;
    }
    int widest = groups.stream().mapToInt(List::size).max().orElseThrow();
    int slices = holders.get(0).length;
    List<int[]> joined = new ArrayList<>();
    for (List<int[]> group : groups) {
      if (widest % group.size() != 0) {
        throw new AssertionError(group.size() + " does not divide " + widest);
      }
      int[] all = new int[slices * widest];
      for (int slice = 0; slice < slices; slice++) {
        int here = slice;
        rings.add(group.stream().mapToInt(inside -> inside[here]).toArray());
        for (int i = 0; i < widest; i++) {
          all[slice + slices * i] = group.get(i % group.size())[slice];
        }
      }
      joined.add(all);
    }
    return joined;
  }

  /** All rings at once; a device that is in several goes on when all of them are through. */
  private void across(List<int[]> rings, double bytes) {
    List<List<Integer>> before = List.copyOf(done);
    List<List<Integer>> after = new ArrayList<>();
    before.forEach(any -> after.add(new ArrayList<>()));
    for (int[] ring : rings) {
      List<List<Integer>> now = ringAfter(ring, bytes / ring.length, ring.length - 1, before);
      for (int i = 0; i < ring.length; i++) {
        after.get(ring[i]).addAll(now.get(i));
      }
    }
    for (int[] ring : rings) {
      for (int device : ring) {
        done.set(device, after.get(device));
      }
    }
  }

  /**
   * Both trees reduce their half of the message in chunks; when both are through, they broadcast.
   */
  void twoTreeAllReduce(int[] members, double bytes, int chunks) {
    List<Integer> reduced = new ArrayList<>();
    for (int shift = 0; shift < 2; shift++) {
      reduced.addAll(reduce(parents(members, shift), members, bytes / 2 / chunks, chunks));
    }
    for (int shift = 0; shift < 2; shift++) {
      broadcast(parents(members, shift), members, bytes / 2 / chunks, chunks, reduced);
    }
  }

  /** Returns what has arrived at the root. */
  private List<Integer> reduce(int[] parents, int[] members, double bytes, int chunks) {
    int[][] sent = new int[chunks][cluster.size()];
    List<Integer> atRoot = new ArrayList<>();
    for (int chunk = 0; chunk < chunks; chunk++) {
      for (int member : leavesFirst(parents, members)) {
        if (parents[member] < 0) {
          continue;
        }
        List<Integer> after = new ArrayList<>();
        for (int child : members) {
          if (parents[child] == member) {
            after.add(sent[chunk][child]);
          }
        }
        if (chunk > 0) {
          after.add(sent[chunk - 1][member]);
        }
        sent[chunk][member] = simulation.send(member, parents[member], bytes, after);
        if (parents[parents[member]] < 0) {
          atRoot.add(sent[chunk][member]);
        }
      }
    }
    return atRoot;
  }

  private void broadcast(
      int[] parents, int[] members, double bytes, int chunks, List<Integer> reduced) {
    int[][] received = new int[chunks][cluster.size()];
    int[] rootFirst = leavesFirst(parents, members);
    for (int chunk = 0; chunk < chunks; chunk++) {
      for (int i = rootFirst.length - 1; i >= 0; i--) {
        int member = rootFirst[i];
        int parent = parents[member];
        if (parent < 0) {
          continue;
        }
        List<Integer> after = new ArrayList<>();
        if (parents[parent] < 0) {
          after.addAll(reduced);
        } else {
          after.add(received[chunk][parent]);
        }
        if (chunk > 0) {
          after.add(received[chunk - 1][member]);
        }
        received[chunk][member] = simulation.send(parent, member, bytes, after);
      }
    }
  }

  private int[] leavesFirst(int[] parents, int[] members) {
    return Arrays.stream(members)
        .boxed()
        .sorted((a, b) -> Integer.compare(depth(parents, b), depth(parents, a)))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  static int depth(int[] parents, int member) {
    return parents[member] < 0 ? 0 : 1 + depth(parents, parents[member]);
  }

  /**
   * The parent of each device in one of two trees, negative for the root: a tree across the groups
   * of every level, between the roots of their own trees. The second is the first shifted by one.
   */
  int[] parents(int[] members, int shift) {
    int[] parents = new int[cluster.size()];
    Arrays.fill(parents, -1);
    List<Integer> roots = new ArrayList<>();
    for (int member : members) {
      roots.add(member);
    }
    for (int level = 0; level < cluster.levels().size(); level++) {
      List<Integer> outer = new ArrayList<>();
      for (int first = 0, end; first < roots.size(); first = end) {
        end = first + 1;
        while (end < roots.size()
            && cluster.group(level, roots.get(end)) == cluster.group(level, roots.get(first))) {
          end++;
        }
        outer.add(join(roots.subList(first, end), shift, parents));
      }
      roots = outer;
    }
    return parents;
  }

  /**
   * A root with one child, below which a binary tree in order of numbers has all odd ones as its
   * leaves: the lowest set bit of a number is its height.
   */
  private static int join(List<Integer> roots, int shift, int[] parents) {
    int count = roots.size();
    for (int i = 1; i < count; i++) {
      int lowest = Integer.lowestOneBit(i);
      int without = i ^ lowest;
      int right = without | lowest << 1;
      int parent = right < count ? right : without;
      parents[roots.get((i + shift) % count)] = roots.get((parent + shift) % count);
    }
    return roots.get(shift % count);
  }

  /** Every member sends to both neighbours on a line at once. */
  void halo(int[] members, double bytes) {
    for (int i = 1; i < members.length; i++) {
      simulation.send(members[i - 1], members[i], bytes, List.of());
      simulation.send(members[i], members[i - 1], bytes, List.of());
    }
  }
}

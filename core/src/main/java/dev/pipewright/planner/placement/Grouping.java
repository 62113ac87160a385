package dev.pipewright.planner.placement;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which operators share a device, before any search.
 *
 * <p>Paper: Tarnawski et al., NeurIPS 2020, §4 and appendix B: operators of one colour; a part of
 * the backward pass without a forward part gets an empty one, with the backward pass's edges turned
 * round; then what lies on a circle of the forward pass; then what takes no time and has one
 * neighbour stays with it. The last is done only where it cannot cost anything, since it might need
 * memory that its neighbour's device has not; {@link #published} does it always, as the authors do.
 */
final class Grouping {
  private final OperatorGraph graph;
  private final int[] leader; // a forest of operators: those with one root share a device
  private final boolean anyway;

  private Grouping(OperatorGraph graph, boolean anyway) {
    this.graph = graph;
    this.anyway = anyway;
    leader = new int[graph.size()];
    Arrays.setAll(leader, i -> i);
  }

  /** Groups that some best contiguous placement keeps together. */
  static Groups of(OperatorGraph graph) {
    return new Grouping(graph, false).groups();
  }

  /** As the authors' program groups, which may need more memory than there is. */
  static Groups published(OperatorGraph graph) {
    return new Grouping(graph, true).groups();
  }

  /**
   * Groups in which pairs of operators are together besides, and leaves as the authors join them.
   */
  static Groups joined(OperatorGraph graph, List<int[]> together) {
    Grouping grouping = new Grouping(graph, true);
    together.forEach(pair -> grouping.join(pair[0], pair[1]));
    return grouping.groups();
  }

  /** Groups of one colour, for sets that need not be contiguous. */
  static Groups coloursOnly(OperatorGraph graph) {
    Grouping grouping = new Grouping(graph, false);
    grouping.colours();
    int[] number = new int[graph.size()];
    Arrays.fill(number, -1);
    int[] groupOf = new int[graph.size()];
    int count = 0;
    for (int i = 0; i < groupOf.length; i++) {
      int root = grouping.leader(i);
      if (number[root] < 0) {
        number[root] = count++;
      }
      groupOf[i] = number[root];
    }
    return new Groups(graph, groupOf, count, new int[0], new int[0]);
  }

  private Groups groups() {
    colours();
    circles();
    Groups groups = numbered();
    while (leaves(groups)) {
      groups = numbered();
    }
    return groups;
  }

  private int leader(int operator) {
    int at = operator;
    while (leader[at] != at) {
      leader[at] = leader[leader[at]];
      at = leader[at];
    }
    return at;
  }

  private void join(int operator, int other) {
    leader[leader(operator)] = leader(other);
  }

  private void colours() {
    Map<Long, Integer> first = new HashMap<>();
    for (int i = 0; i < graph.size(); i++) {
      if (graph.operator(i).colour().isPresent()) {
        long colour = graph.operator(i).colour().getAsLong();
        first.putIfAbsent(colour, i);
        join(i, first.getOrDefault(colour, i));
      }
    }
  }

  /**
   * Edges that decide what may be cut, between the leaders of groups.
   *
   * @param from leaders where they begin; one for each edge of the graph in the order there
   * @param to leaders where they lead; the same leader where the edge decides nothing
   */
  private record Forward(int[] from, int[] to) {}

  private Forward forward() {
    boolean[] forward = new boolean[graph.size()];
    for (int i = 0; i < forward.length; i++) {
      forward[leader(i)] |= !graph.operator(i).backward();
    }
    int[] from = new int[graph.edges().size()];
    int[] to = new int[from.length];
    for (int i = 0; i < from.length; i++) {
      OperatorGraph.Edge edge = graph.edges().get(i);
      int start = leader(edge.from());
      int end = leader(edge.to());
      boolean turned = graph.operator(edge.to()).backward();
      boolean decides =
          !turned || (graph.operator(edge.from()).backward() && !(forward[start] && forward[end]));
      from[i] = turned ? end : start;
      to[i] = !decides ? from[i] : turned ? start : end;
    }
    return new Forward(from, to);
  }

  private int[] components(Forward edges) {
    return Components.of(graph.size(), edges.from, edges.to);
  }

  private void circles() {
    int[] component = components(forward());
    int[] first = new int[graph.size()];
    Arrays.fill(first, -1);
    for (int i = 0; i < graph.size(); i++) {
      int root = leader(i);
      int part = component[root];
      if (first[part] < 0) {
        first[part] = root;
      }
    }
    int[] roots = new int[graph.size()];
    Arrays.setAll(roots, this::leader);
    for (int i = 0; i < graph.size(); i++) {
      join(roots[i], first[component[roots[i]]]);
    }
  }

  /** The groups as they are now; components come with sinks first, so they are turned round. */
  private Groups numbered() {
    Forward edges = forward();
    int[] component = components(edges);
    int[] number = new int[graph.size()];
    Arrays.fill(number, -1);
    boolean[] used = new boolean[graph.size()];
    for (int i = 0; i < graph.size(); i++) {
      used[component[leader(i)]] = true;
    }
    int count = 0;
    for (int part = graph.size() - 1; part >= 0; part--) {
      if (used[part]) {
        number[part] = count++;
      }
    }
    int[] groupOf = new int[graph.size()];
    Arrays.setAll(groupOf, i -> number[component[leader(i)]]);
    int[] from = new int[edges.from.length];
    int[] to = new int[from.length];
    Arrays.setAll(from, i -> groupOf[edges.from[i]]);
    Arrays.setAll(to, i -> groupOf[edges.to[i]]);
    return new Groups(graph, groupOf, count, from, to);
  }

  /** Joins groups without time to their only neighbours; whether there were any. */
  private boolean leaves(Groups groups) {
    boolean roomy = Arrays.stream(groups.bytes).sum() <= groups.devices.acceleratorBytes();
    boolean[] taken = new boolean[groups.size];
    boolean any = false;
    for (int group = 0; group < groups.size; group++) {
      int neighbour = neighbour(groups, group);
      boolean joins =
          neighbour >= 0
              && !taken[neighbour]
              && !taken[group]
              && groups.processorTime[group] == 0
              && groups.acceleratorTime[group] == 0
              && (groups.onAccelerator[group] || !groups.onAccelerator[neighbour])
              && (anyway || roomy || groups.bytes[group] == 0)
              && inAllNets(groups, group, neighbour);
      if (joins) {
        join(groups.members[group][0], groups.members[neighbour][0]);
        taken[group] = true; // its edges and nets are its neighbour's from the next round on
        taken[neighbour] = true;
        any = true;
      }
    }
    return any;
  }

  /** The only neighbour in the forward pass; −1 where there are none or several. */
  private static int neighbour(Groups groups, int group) {
    int[] before = groups.predecessors[group];
    int[] after = groups.successors[group];
    if (before.length + after.length != 1) {
      return -1;
    }
    return before.length == 1 ? before[0] : after[0];
  }

  private static boolean inAllNets(Groups groups, int group, int neighbour) {
    for (int net : groups.netsOf[group]) {
      if (Arrays.binarySearch(groups.nets[net], neighbour) < 0) {
        return false;
      }
    }
    return true;
  }
}

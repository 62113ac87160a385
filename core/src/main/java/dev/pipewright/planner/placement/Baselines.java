package dev.pipewright.planner.placement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;

/** Placements to compare with, as the authors of the paper count them. */
public final class Baselines {
  private Baselines() {}

  /** All on one accelerator, fitting or not; none where an accelerator cannot run them all. */
  public static Optional<OperatorPlacement> oneAccelerator(OperatorGraph graph) {
    boolean runs =
        graph.devices().accelerators() > 0
            && graph.operators().stream().allMatch(OperatorGraph.Operator::onAccelerator);
    return runs
        ? Optional.of(OperatorPlacement.of(graph, new int[graph.size()], new boolean[1]))
        : Optional.empty();
  }

  /**
   * As PipeDream would: branches are not cut. What feeds the edges of one biconnected component
   * shares a device; what is left is cut along one order. Paper: Tarnawski et al., NeurIPS 2020,
   * §5.
   *
   * @param overlooked operators whose outgoing edges close no component; the authors name some of
   *     their own workloads, like masks that every layer reads
   */
  public static PlacementResult pipeDream(OperatorGraph graph, IntPredicate overlooked) {
    List<int[]> together = branches(graph, Grouping.coloursOnly(graph), overlooked);
    Groups groups = Grouping.joined(graph, together);
    return new PlacementPlanner(graph, PlacementRequest.contiguous().linearized(), groups).answer();
  }

  /** Pairs of operators that share a device. */
  private static List<int[]> branches(
      OperatorGraph graph, Groups colours, IntPredicate overlooked) {
    int[] part = new int[graph.size()]; // forward and backward part of each colour
    Set<Integer> without = new HashSet<>();
    for (int group = 0; group < colours.size; group++) {
      for (int operator : colours.members[group]) {
        part[operator] = 2 * group + (graph.operator(operator).backward() ? 1 : 0);
        if (overlooked.test(operator)) {
          without.add(part[operator]);
        }
      }
    }
    Set<List<Integer>> edges = new HashSet<>();
    for (OperatorGraph.Edge edge : graph.edges()) {
      List<Integer> ends = List.of(part[edge.from()], part[edge.to()]);
      if (!ends.get(0).equals(ends.get(1)) && !without.contains(ends.get(0))) {
        edges.add(ends);
      }
    }
    int[] from = edges.stream().mapToInt(ends -> ends.get(0)).toArray();
    int[] to = edges.stream().mapToInt(ends -> ends.get(1)).toArray();
    int[] block = BiconnectedBlocks.of(2 * colours.size, from, to);
    Map<Integer, Integer> first = new HashMap<>();
    List<int[]> together = new ArrayList<>();
    for (int edge = 0; edge < block.length; edge++) {
      int feeding = colours.members[from[edge] / 2][0];
      Integer other = first.putIfAbsent(block[edge], feeding);
      if (other != null) {
        together.add(new int[] {other, feeding});
      }
    }
    return together;
  }
}

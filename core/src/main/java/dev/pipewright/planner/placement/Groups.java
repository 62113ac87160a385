package dev.pipewright.planner.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Operators joined to groups that share a device, numbered so that the forward pass leads from
 * lower to higher numbers.
 *
 * <p>A net is the group of a producer and the groups of all that read it. A device pays the
 * producer's transfer once when it holds some of the net, but not all: either it sends what it
 * made, or receives what it reads.
 */
final class Groups {
  final int size;
  final OperatorGraph.Devices devices;
  final int[][] members; // operators of each group
  final boolean[] onAccelerator;
  final double[] processorTime;
  final double[] acceleratorTime;
  final double[] bytes;
  final int[][] predecessors; // in the forward pass, without repetition
  final int[][] successors;
  final int[][] nets; // groups of each net, at least two
  final double[] netCost;
  final int[][] netsOf; // nets of each group

  /**
   * @param groupOf the group of each operator
   * @param from of the edges between groups that decide what may be cut; to likewise
   */
  Groups(OperatorGraph graph, int[] groupOf, int groups, int[] from, int[] to) {
    size = groups;
    devices = graph.devices();
    onAccelerator = new boolean[size];
    processorTime = new double[size];
    acceleratorTime = new double[size];
    bytes = new double[size];
    Arrays.fill(onAccelerator, true);
    int[] count = new int[size];
    for (int i = 0; i < graph.size(); i++) {
      OperatorGraph.Operator operator = graph.operator(i);
      int group = groupOf[i];
      count[group]++;
      onAccelerator[group] &= operator.onAccelerator();
      processorTime[group] += operator.processorTime();
      acceleratorTime[group] += operator.acceleratorTime();
      bytes[group] += operator.bytes();
    }
    members = new int[size][];
    for (int group = 0; group < size; group++) {
      members[group] = new int[count[group]];
    }
    for (int i = graph.size() - 1; i >= 0; i--) {
      members[groupOf[i]][--count[groupOf[i]]] = i;
    }
    successors = distinct(Components.adjacency(size, from, to));
    predecessors = distinct(Components.adjacency(size, to, from));
    Map<List<Integer>, Double> costs = nets(graph, groupOf);
    nets = costs.keySet().stream().map(Groups::array).toArray(int[][]::new);
    netCost = costs.values().stream().mapToDouble(cost -> cost).toArray();
    netsOf = netsOf();
  }

  private static int[][] distinct(int[][] lists) {
    for (int i = 0; i < lists.length; i++) {
      int self = i;
      lists[i] =
          Arrays.stream(lists[i]).filter(other -> other != self).sorted().distinct().toArray();
    }
    return lists;
  }

  private static int[] array(List<Integer> list) {
    return list.stream().mapToInt(i -> i).toArray();
  }

  /** The cost of each net, those of the same groups added up. */
  private static Map<List<Integer>, Double> nets(OperatorGraph graph, int[] groupOf) {
    List<List<Integer>> readers = new ArrayList<>();
    for (int i = 0; i < graph.size(); i++) {
      readers.add(new ArrayList<>(List.of(groupOf[i])));
    }
    for (OperatorGraph.Edge edge : graph.edges()) {
      readers.get(edge.from()).add(groupOf[edge.to()]);
    }
    Map<List<Integer>, Double> costs = new java.util.LinkedHashMap<>();
    for (int i = 0; i < graph.size(); i++) {
      List<Integer> net = readers.get(i).stream().distinct().sorted().toList();
      if (net.size() > 1 && graph.operator(i).transferTime() > 0) {
        costs.merge(net, graph.operator(i).transferTime(), Double::sum);
      }
    }
    return costs;
  }

  private int[][] netsOf() {
    List<List<Integer>> lists = new ArrayList<>();
    for (int group = 0; group < size; group++) {
      lists.add(new ArrayList<>());
    }
    for (int net = 0; net < nets.length; net++) {
      for (int group : nets[net]) {
        lists.get(group).add(net);
      }
    }
    return lists.stream().map(Groups::array).toArray(int[][]::new);
  }

  /** Time of one accelerator for all that accelerators can run. */
  double work() {
    double work = 0;
    for (int group = 0; group < size; group++) {
      work += onAccelerator[group] ? acceleratorTime[group] : 0;
    }
    return work;
  }

  /** No load of any placement is larger. */
  double most() {
    double most = Arrays.stream(netCost).sum() + work();
    return Math.max(most, Arrays.stream(processorTime).sum());
  }

  /**
   * Orders of the groups in which the forward pass leads onwards only: what became ready last goes
   * first, or what became ready first, or each as late as its readers allow.
   */
  List<int[]> orders() {
    int[] late = order(successors, predecessors, true);
    for (int i = 0; i < size / 2; i++) {
      int swapped = late[i];
      late[i] = late[size - 1 - i];
      late[size - 1 - i] = swapped;
    }
    List<int[]> orders = new ArrayList<>();
    for (int[] order :
        List.of(
            order(predecessors, successors, true), late, order(predecessors, successors, false))) {
      if (orders.stream().noneMatch(other -> Arrays.equals(other, order))) {
        orders.add(order);
      }
    }
    return orders;
  }

  /** Kahn's order. */
  private int[] order(int[][] before, int[][] after, boolean lastFirst) {
    int[] waiting = new int[size];
    int[] ready = new int[size];
    int[] order = new int[size];
    int head = 0;
    int tail = 0;
    for (int group = 0; group < size; group++) {
      waiting[group] = before[group].length;
      if (waiting[group] == 0) {
        ready[tail++] = group;
      }
    }
    for (int place = 0; place < size; place++) {
      order[place] = lastFirst ? ready[--tail] : ready[head++];
      for (int next : after[order[place]]) {
        if (--waiting[next] == 0) {
          ready[tail++] = next;
        }
      }
    }
    return order;
  }
}

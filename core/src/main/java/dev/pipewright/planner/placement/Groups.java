package dev.pipewright.planner.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
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
    Map<Net, Double> costs = nets(graph, groupOf);
    nets = costs.keySet().stream().map(Net::groups).toArray(int[][]::new);
    netCost = costs.values().stream().mapToDouble(cost -> cost).toArray();
    netsOf = netsOf();
  }

  /** The groups that make or read an output, ascending. */
  private record Net(int[] groups) {
    @Override
    public boolean equals(Object that) {
      return that instanceof Net other && Arrays.equals(groups, other.groups);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(groups);
    }
  }

  /** Every other group once, ascending. */
  private static int[][] distinct(int[][] lists) {
    for (int i = 0; i < lists.length; i++) {
      lists[i] = distinct(lists[i], i);
    }
    return lists;
  }

  /** Every number but one, once, ascending. */
  private static int[] distinct(int[] list, int but) {
    Arrays.sort(list);
    int kept = 0;
    for (int each : list) {
      if (each != but && (kept == 0 || list[kept - 1] != each)) {
        list[kept++] = each;
      }
    }
    return kept == list.length ? list : Arrays.copyOf(list, kept);
  }

  /** The cost of each net, those of the same groups added up. */
  private static Map<Net, Double> nets(OperatorGraph graph, int[] groupOf) {
    int[][] readers = new int[graph.size()][]; // and the producer first
    int[] count = new int[graph.size()];
    for (OperatorGraph.Edge edge : graph.edges()) {
      count[edge.from()]++;
    }
    for (int i = 0; i < readers.length; i++) {
      readers[i] = new int[count[i] + 1];
      readers[i][0] = groupOf[i];
    }
    for (OperatorGraph.Edge edge : graph.edges()) {
      readers[edge.from()][count[edge.from()]--] = groupOf[edge.to()];
    }
    Map<Net, Double> costs = new LinkedHashMap<>();
    for (int i = 0; i < readers.length; i++) {
      double cost = graph.operator(i).transferTime();
      int[] net = cost > 0 ? distinct(readers[i], -1) : readers[i];
      if (cost > 0 && net.length > 1) {
        costs.merge(new Net(net), cost, Double::sum);
      }
    }
    return costs;
  }

  private int[][] netsOf() {
    int[] count = new int[size];
    for (int[] net : nets) {
      for (int group : net) {
        count[group]++;
      }
    }
    int[][] lists = new int[size][];
    for (int group = 0; group < size; group++) {
      lists[group] = new int[count[group]];
    }
    for (int net = nets.length - 1; net >= 0; net--) {
      for (int group : nets[net]) {
        lists[group][--count[group]] = net;
      }
    }
    return lists;
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

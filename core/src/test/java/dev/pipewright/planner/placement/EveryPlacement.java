package dev.pipewright.planner.placement;

import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The best placement by trying all: every colour on every device. Contiguous is what leads round no
 * circle of devices in the forward pass.
 */
final class EveryPlacement {
  private final OperatorGraph graph;
  private final int[] colour; // of each operator, from 0
  private final int colours;
  private final List<int[]> forward = new ArrayList<>(); // between colours
  private final int accelerators;
  private final int devices;
  private double contiguous = Double.POSITIVE_INFINITY;
  private double apart = Double.POSITIVE_INFINITY;
  private double bytes = Double.POSITIVE_INFINITY;

  private EveryPlacement(OperatorGraph graph) {
    this.graph = graph;
    colour = new int[graph.size()];
    Map<Long, Integer> known = new HashMap<>();
    int next = 0;
    for (int i = 0; i < colour.length; i++) {
      var named = graph.operator(i).colour();
      Integer seen = named.isPresent() ? known.get(named.getAsLong()) : null;
      colour[i] = seen == null ? next++ : seen;
      if (named.isPresent()) {
        known.put(named.getAsLong(), colour[i]);
      }
    }
    colours = next;
    accelerators = graph.devices().accelerators();
    devices = accelerators + graph.devices().processors();
    Set<Integer> hasForward = new HashSet<>();
    for (int i = 0; i < colour.length; i++) {
      if (!graph.operator(i).backward()) {
        hasForward.add(colour[i]);
      }
    }
    for (Edge edge : graph.edges()) {
      int from = colour[edge.from()];
      int to = colour[edge.to()];
      if (!graph.operator(edge.to()).backward()) {
        forward.add(new int[] {from, to});
      } else if (graph.operator(edge.from()).backward()
          && !(hasForward.contains(from) && hasForward.contains(to))) {
        forward.add(new int[] {to, from});
      }
    }
  }

  static EveryPlacement of(OperatorGraph graph) {
    EveryPlacement every = new EveryPlacement(graph);
    every.place(new int[every.colours], 0);
    return every;
  }

  /** Smallest largest load of contiguous placements; infinite where none fits. */
  double contiguous() {
    return contiguous;
  }

  /** The same of all placements. */
  double apart() {
    return apart;
  }

  /** Least memory with which a contiguous placement fits. */
  double bytes() {
    return bytes;
  }

  private void place(int[] deviceOf, int next) {
    if (next == colours) {
      look(deviceOf);
      return;
    }
    for (int device = 0; device < devices; device++) {
      deviceOf[next] = device;
      place(deviceOf, next + 1);
    }
  }

  private void look(int[] deviceOfColour) {
    int[] deviceOf = Arrays.stream(colour).map(c -> deviceOfColour[c]).toArray();
    double[] load = new double[devices];
    double[] held = new double[devices];
    for (int i = 0; i < deviceOf.length; i++) {
      Operator operator = graph.operator(i);
      int device = deviceOf[i];
      if (device < accelerators && !operator.onAccelerator()) {
        return;
      }
      load[device] += device < accelerators ? operator.acceleratorTime() : operator.processorTime();
      held[device] += device < accelerators ? operator.bytes() : 0;
      Set<Integer> readers = new HashSet<>();
      for (Edge edge : graph.edges()) {
        if (edge.from() == i && deviceOf[edge.to()] != device) {
          readers.add(deviceOf[edge.to()]);
        }
      }
      if (!readers.isEmpty()) {
        readers.add(device);
      }
      for (int one : readers) {
        load[one] += one < accelerators ? operator.transferTime() : 0;
      }
    }
    boolean circle = circle(deviceOfColour);
    double most = Arrays.stream(held).max().orElse(0);
    if (!circle) {
      bytes = Math.min(bytes, most);
    }
    if (most <= graph.devices().acceleratorBytes()) {
      double largest = Arrays.stream(load).max().orElse(0);
      apart = Math.min(apart, largest);
      contiguous = circle ? contiguous : Math.min(contiguous, largest);
    }
  }

  /** Whether a device comes before itself. */
  private boolean circle(int[] deviceOf) {
    return circle(deviceOf, forward, devices);
  }

  static boolean circle(int[] deviceOf, List<int[]> edges, int devices) {
    boolean[][] before = new boolean[devices][devices];
    for (int[] edge : edges) {
      before[deviceOf[edge[0]]][deviceOf[edge[1]]] |= deviceOf[edge[0]] != deviceOf[edge[1]];
    }
    for (int over = 0; over < devices; over++) {
      for (int from = 0; from < devices; from++) {
        for (int to = 0; to < devices; to++) {
          before[from][to] |= before[from][over] && before[over][to];
        }
      }
    }
    for (int device = 0; device < devices; device++) {
      if (before[device][device]) {
        return true;
      }
    }
    return false;
  }

  /** Throws nothing, but says what is wrong with a placement; empty where nothing is. */
  String wrong(OperatorPlacement placement, boolean mustBeContiguous) {
    int[] deviceOf = PlacementPlanner.deviceOf(graph, placement);
    if (Arrays.stream(deviceOf).anyMatch(device -> device < 0)) {
      return "an operator is nowhere";
    }
    int[] ofColour = new int[colours];
    for (int i = 0; i < deviceOf.length; i++) {
      ofColour[colour[i]] = deviceOf[i];
    }
    for (int i = 0; i < deviceOf.length; i++) {
      if (ofColour[colour[i]] != deviceOf[i]) {
        return "a colour is on two devices";
      }
      boolean processor = placement.devices().get(deviceOf[i]).processor();
      if (!processor && !graph.operator(i).onAccelerator()) {
        return "an operator is on an accelerator that cannot run it";
      }
    }
    int held = placement.devices().stream().mapToInt(device -> device.operators().size()).sum();
    if (held != graph.size() || placement.accelerators() > accelerators) {
      return "operators twice or too many accelerators";
    }
    if (placement.devices().size() - placement.accelerators() > devices - accelerators) {
      return "too many processors";
    }
    boolean overfull =
        placement.devices().stream()
            .anyMatch(device ->
                !device.processor() && device.bytes() > graph.devices().acceleratorBytes());
    if (overfull) {
      return "more than the memory of an accelerator";
    }
    if (mustBeContiguous && circle(ofColour, forward, placement.devices().size())) {
      return "not contiguous";
    }
    return "";
  }
}

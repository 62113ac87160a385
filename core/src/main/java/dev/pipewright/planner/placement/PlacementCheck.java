package dev.pipewright.planner.placement;

import dev.pipewright.units.Check;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A placement that is given, not searched: what keeps it from being one of its workload. */
public final class PlacementCheck {
  /**
   * What is wrong, where.
   *
   * @param device −1 where it is about several
   * @param what one word
   * @param message the value and what would help
   */
  public record Problem(int device, String what, String message) {}

  private final OperatorGraph graph;
  private final int[] deviceOf;
  private final boolean[] processor;
  private final List<Problem> problems = new ArrayList<>();

  private PlacementCheck(OperatorGraph graph, int[] deviceOf, boolean[] processor) {
    this.graph = graph;
    this.deviceOf = deviceOf;
    this.processor = processor;
  }

  /**
   * All that is wrong.
   *
   * @param deviceOf of each operator
   * @param processor whether each device is a processor
   * @param contiguous whether every device is said to hold a contiguous set
   */
  public static List<Problem> problems(
      OperatorGraph graph, int[] deviceOf, boolean[] processor, boolean contiguous) {
    Check.that(
        deviceOf.length == graph.size(),
        "a device for each operator: operators=%d, devices=%d",
        graph.size(),
        deviceOf.length);
    PlacementCheck given = new PlacementCheck(graph, deviceOf, processor);
    given.counts();
    given.operators();
    given.colours();
    given.memory();
    if (contiguous) {
      given.order();
    }
    return given.problems;
  }

  private void counts() {
    int processors = 0;
    for (boolean is : processor) {
      processors += is ? 1 : 0;
    }
    count("accelerators", processor.length - processors, graph.devices().accelerators());
    count("processors", processors, graph.devices().processors());
  }

  private void count(String kind, int used, int there) {
    if (used > there) {
      problems.add(
          new Problem(
              -1,
              "misfit",
              "uses %d %s, but the workload has %d; put their nodes on fewer"
                  .formatted(used, kind, there)));
    }
  }

  private void operators() {
    for (int i = 0; i < deviceOf.length; i++) {
      if (!processor[deviceOf[i]] && !graph.operator(i).onAccelerator()) {
        problems.add(
            new Problem(
                deviceOf[i],
                "misfit",
                "node %d is on device %d, an accelerator, and can only run on a processor; put it on one"
                    .formatted(graph.operator(i).id(), deviceOf[i])));
      }
    }
  }

  private void colours() {
    Map<Long, Integer> first = new HashMap<>();
    for (int i = 0; i < deviceOf.length; i++) {
      if (graph.operator(i).colour().isPresent()) {
        long colour = graph.operator(i).colour().getAsLong();
        int one = first.merge(colour, i, (known, other) -> known);
        if (deviceOf[one] != deviceOf[i]) {
          problems.add(
              new Problem(
                  deviceOf[i],
                  "misfit",
                  "node %d is on device %d, but node %d of the same colorClass %d is on device %d; put both on one"
                      .formatted(
                          graph.operator(i).id(),
                          deviceOf[i],
                          graph.operator(one).id(),
                          colour,
                          deviceOf[one])));
        }
      }
    }
  }

  private void memory() {
    double capacity = graph.devices().acceleratorBytes();
    double[] bytes = new double[processor.length];
    for (int i = 0; i < deviceOf.length; i++) {
      bytes[deviceOf[i]] += graph.operator(i).bytes();
    }
    for (int device = 0; device < bytes.length; device++) {
      if (!processor[device] && bytes[device] > capacity * (1 + 1e-12)) {
        problems.add(
            new Problem(
                device,
                "memory",
                "device %d needs %s of %s; move nodes to other devices, or give --memory"
                    .formatted(
                        device, Units.binary(bytes[device], "B"), Units.binary(capacity, "B"))));
      }
    }
  }

  /** Contiguous sets can be put in an order that no edge of the forward pass leads back in. */
  private void order() {
    List<int[]> edges = new ArrayList<>();
    for (OperatorGraph.Edge edge : graph.edges()) {
      if (!graph.operator(edge.to()).backward()) {
        edges.add(new int[] {deviceOf[edge.from()], deviceOf[edge.to()]});
      }
    }
    int[] from = edges.stream().mapToInt(edge -> edge[0]).toArray();
    int[] to = edges.stream().mapToInt(edge -> edge[1]).toArray();
    int[] circle = Components.of(processor.length, from, to);
    int[] first = new int[processor.length];
    Arrays.fill(first, -1);
    for (int device = 0; device < circle.length; device++) {
      int one = first[circle[device]];
      if (one >= 0) {
        problems.add(
            new Problem(
                device,
                "contiguity",
                "contiguous is true, but the forward pass comes back to device %d from device %d; say false, or move nodes"
                    .formatted(one, device)));
      } else {
        first[circle[device]] = device;
      }
    }
  }
}

package dev.pipewright.planner.placement;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Which device has which operators, and how busy that makes it.
 *
 * <p>Paper: Tarnawski et al., NeurIPS 2020, §3: an accelerator's load is the time of its operators,
 * and for every producer whose output it sends or receives one transfer, to however many readers. A
 * processor reads the host's memory and pays no transfers.
 *
 * @param devices those that hold anything, in the order of the pipeline where there is one
 * @param maxLoad of the busiest: time between two samples that a pipeline of them finishes
 */
public record OperatorPlacement(List<Device> devices, double maxLoad) {
  /**
   * A device of a placement.
   *
   * @param processor whether it is a processor of the host, not an accelerator
   * @param operators as places in the graph, rising
   * @param compute time of the operators
   * @param transfers time of sending and receiving; nothing for a processor
   * @param transferred producers whose output is sent or received
   * @param bytes that the operators take
   */
  public record Device(
      boolean processor,
      List<Integer> operators,
      double compute,
      double transfers,
      int transferred,
      double bytes) {
    public Device {
      operators = List.copyOf(operators);
    }

    public double load() {
      return compute + transfers;
    }
  }

  public OperatorPlacement {
    devices = List.copyOf(devices);
  }

  /**
   * The loads of a placement.
   *
   * @param deviceOf of each operator
   * @param processor whether each device is a processor
   */
  public static OperatorPlacement of(OperatorGraph graph, int[] deviceOf, boolean[] processor) {
    Check.that(
        deviceOf.length == graph.size(),
        "a device for each operator: operators=%d, devices=%d",
        graph.size(),
        deviceOf.length);
    double[] transfers = new double[processor.length];
    int[] transferred = new int[processor.length];
    List<Set<Integer>> touched = new ArrayList<>();
    for (int i = 0; i < graph.size(); i++) {
      touched.add(new HashSet<>(Set.of(deviceOf[i])));
    }
    for (OperatorGraph.Edge edge : graph.edges()) {
      touched.get(edge.from()).add(deviceOf[edge.to()]);
    }
    for (int i = 0; i < graph.size(); i++) {
      if (touched.get(i).size() > 1) {
        for (int device : touched.get(i)) {
          transfers[device] += processor[device] ? 0 : graph.operator(i).transferTime();
          transferred[device] += processor[device] ? 0 : 1;
        }
      }
    }
    List<Device> devices = new ArrayList<>();
    double most = 0;
    for (int device = 0; device < processor.length; device++) {
      int here = device;
      List<Integer> operators =
          IntStream.range(0, graph.size()).filter(i -> deviceOf[i] == here).boxed().toList();
      if (!operators.isEmpty()) {
        devices.add(
            device(graph, operators, processor[device], transfers[device], transferred[device]));
        most = Math.max(most, devices.get(devices.size() - 1).load());
      }
    }
    return new OperatorPlacement(devices, most);
  }

  private static Device device(
      OperatorGraph graph,
      List<Integer> operators,
      boolean processor,
      double transfers,
      int transferred) {
    double compute = 0;
    double bytes = 0;
    for (int i : operators) {
      OperatorGraph.Operator operator = graph.operator(i);
      compute += processor ? operator.processorTime() : operator.acceleratorTime();
      bytes += operator.bytes();
    }
    return new Device(processor, operators, compute, transfers, transferred, bytes);
  }

  /** Accelerators that hold anything. */
  public int accelerators() {
    return (int) devices.stream().filter(device -> !device.processor()).count();
  }

  /** The busiest device; the first of several. */
  public int busiest() {
    int busiest = 0;
    for (int i = 1; i < devices.size(); i++) {
      busiest = devices.get(i).load() > devices.get(busiest).load() ? i : busiest;
    }
    return busiest;
  }

  /** {@code stages} of the groups of {@code graph}. */
  static OperatorPlacement of(OperatorGraph graph, Groups groups, Stages stages) {
    int[] deviceOf = new int[graph.size()];
    boolean[] processor = new boolean[stages.stages().size()];
    for (int stage = 0; stage < processor.length; stage++) {
      processor[stage] = stages.stages().get(stage).processor();
      for (int group : stages.stages().get(stage).groups()) {
        for (int operator : groups.members[group]) {
          deviceOf[operator] = stage;
        }
      }
    }
    return of(graph, deviceOf, processor);
  }
}

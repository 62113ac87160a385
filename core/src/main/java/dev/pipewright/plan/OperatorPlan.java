package dev.pipewright.plan;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A placement of the operators of a graph.
 *
 * @param contiguous whether every device has to hold a contiguous set
 * @param devices that hold anything
 */
public record OperatorPlan(boolean contiguous, List<Device> devices) implements Plan {
  /**
   * A device and what it holds.
   *
   * @param processor whether it is a processor of the host, not an accelerator
   * @param nodes by their ids in the workload
   */
  public record Device(boolean processor, List<Long> nodes) {
    public Device {
      nodes = List.copyOf(nodes);
    }
  }

  public OperatorPlan {
    devices = List.copyOf(devices);
  }

  /** {@code 12 + 9 nodes}: of each device. */
  @Override
  public String summary() {
    return devices.stream()
        .map(device -> Integer.toString(device.nodes().size()))
        .collect(Collectors.joining(" + ", "", " nodes"));
  }
}

package dev.pipewright.formats;

import java.util.List;

/**
 * A placement of operators, and the workload that it was made for.
 *
 * @param contiguous whether every device is said to hold a contiguous set
 * @param devices as the file lists them
 * @param figures that the file states
 */
public record PlacementFile(
    boolean contiguous, List<Device> devices, MadeFor madeFor, PlanFigures figures)
    implements ReadPlan {
  /**
   * A device and what it holds.
   *
   * @param nodes by their ids in the workload
   */
  public record Device(boolean processor, List<Long> nodes) {
    public Device {
      nodes = List.copyOf(nodes);
    }
  }

  public PlacementFile {
    devices = List.copyOf(devices);
  }
}

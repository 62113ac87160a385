package dev.pipewright.planner.placement;

import dev.pipewright.planner.Planning.LowerBound;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * What work alone says, whatever goes where: accelerators and processors share the groups, in
 * fractions even, without transfers and memory.
 */
final class WorkBounds {
  private final Groups groups;
  private final double work;
  private final double[] processor; // running sums, what processors are best at first
  private final double[] accelerator;

  WorkBounds(Groups groups) {
    this.groups = groups;
    work = groups.work();
    int[] order =
        IntStream.range(0, groups.size)
            .filter(group -> groups.onAccelerator[group])
            .boxed()
            .sorted(Comparator.comparingDouble(this::slowdown))
            .mapToInt(group -> group)
            .toArray();
    processor = new double[order.length + 1];
    accelerator = new double[order.length + 1];
    for (int i = 0; i < order.length; i++) {
      processor[i + 1] = processor[i] + groups.processorTime[order[i]];
      accelerator[i + 1] = accelerator[i] + groups.acceleratorTime[order[i]];
    }
  }

  /** How much longer a processor takes than an accelerator. */
  private double slowdown(int group) {
    double accelerated = groups.acceleratorTime[group];
    return accelerated == 0 ? Double.POSITIVE_INFINITY : groups.processorTime[group] / accelerated;
  }

  /** Time of one accelerator for all that accelerators can run. */
  double work() {
    return work;
  }

  /** The most accelerator time that processors can take over in so much time of theirs. */
  double takenOver(double time) {
    int low = 0;
    int high = processor.length - 1;
    while (low < high) {
      int middle = (low + high + 1) / 2;
      if (processor[middle] <= time) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (low == processor.length - 1) {
      return accelerator[low];
    }
    double share = (time - processor[low]) / (processor[low + 1] - processor[low]);
    return accelerator[low] + share * (accelerator[low + 1] - accelerator[low]);
  }

  /** No placement's largest load is below. */
  LowerBound bound() {
    LowerBound shared =
        new LowerBound(shared(), "all work shared evenly by all devices, without transfers");
    LowerBound single = single();
    LowerBound host = host();
    LowerBound best = single.value() > shared.value() ? single : shared;
    return host.value() > best.value() ? host : best;
  }

  private double shared() {
    int accelerators = groups.devices.accelerators();
    int processors = groups.devices.processors();
    double low = 0;
    double high = groups.most();
    for (int i = 0; i < 200 && low < high; i++) {
      double middle = low + (high - low) / 2;
      if (accelerators * middle + takenOver(processors * middle) < work) {
        low = middle;
      } else {
        high = middle;
      }
      if (high - low <= 1e-14 * high) {
        break;
      }
    }
    return low;
  }

  /** The largest group, wherever it takes less. */
  private LowerBound single() {
    double most = 0;
    int largest = 0;
    for (int group = 0; group < groups.size; group++) {
      boolean accelerated =
          groups.devices.accelerators() > 0
              && groups.onAccelerator[group]
              && groups.bytes[group] <= groups.devices.acceleratorBytes();
      double least = accelerated ? groups.acceleratorTime[group] : Double.POSITIVE_INFINITY;
      if (groups.devices.processors() > 0) {
        least = Math.min(least, groups.processorTime[group]);
      }
      if (least > most) {
        most = least;
        largest = group;
      }
    }
    int operators = groups.members[largest].length;
    return new LowerBound(
        most,
        "the largest group of operators that share a device, group %d of %d operators, alone"
            .formatted(largest, operators));
  }

  private LowerBound host() {
    double time = 0;
    for (int group = 0; group < groups.size; group++) {
      time += groups.onAccelerator[group] ? 0 : groups.processorTime[group];
    }
    double each = time == 0 ? 0 : time / groups.devices.processors();
    return new LowerBound(each, "what no accelerator can run, shared evenly by the processors");
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.units.Bytes;

/** What would have to change for a network that does not fit. */
public final class Remedy {
  /** The memory is found to this precision. */
  private static final double PRECISION = 1.01;

  private Remedy() {}

  /**
   * Says why nothing fits and the smallest memory per device with which something would.
   *
   * <p>Searches by bisection with a narrow planner, so the answer is an amount that is enough.
   */
  public static String sentence(StageCosts costs, Request request) {
    double enough = smallestMemory(costs, request);
    Bytes largest = Bytes.ZERO;
    for (var device : costs.workload().cluster().devices()) {
      largest = largest.compareTo(device.memory()) < 0 ? device.memory() : largest;
    }
    String layer = largestLayer(costs, (double) largest.value());
    return layer
        + "the devices have up to "
        + largest
        + " each; "
        + Bytes.of(enough)
        + " on each of the "
        + costs.workload().cluster().size()
        + " would do, or more devices, a smaller micro-batch or another optimizer";
  }

  private static String largestLayer(StageCosts costs, double capacity) {
    for (int i = 0; i < costs.size(); i++) {
      double bytes = costs.staticBytes(i, i + 1);
      if (bytes > capacity) {
        int[] added = costs.workload().chain().added(i);
        String name = costs.workload().chain().graph().layer(added[added.length - 1]).name();
        return "layer "
            + i
            + " ("
            + name
            + ") alone needs "
            + Bytes.of(bytes)
            + " for weights, gradients and optimizer; ";
      }
    }
    return "";
  }

  private static double smallestMemory(StageCosts costs, Request request) {
    double low = 1;
    double high = costs.staticBytes(0, costs.size()) + 1;
    while (!fits(costs, request, high)) {
      low = high;
      high *= 2;
    }
    while (high / low > PRECISION) {
      double middle = Math.sqrt(low * high);
      if (fits(costs, request, middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private static boolean fits(StageCosts costs, Request request, double bytes) {
    Workload workload = costs.workload();
    Workload other =
        new Workload(
            workload.chain(),
            workload.profile(),
            workload.training(),
            workload.cluster().withMemory(Bytes.of(bytes)));
    return DapplePlanner.findsAnything(new StageCosts(other), request);
  }
}

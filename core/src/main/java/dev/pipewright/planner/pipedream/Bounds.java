package dev.pipewright.planner.pipedream;

import dev.pipewright.planner.Planning.LowerBound;
import java.util.List;

/** What no plan of the optimizer can go below, and what data parallelism takes. */
final class Bounds {
  private Bounds() {}

  /** The greater of all work over all devices and the layer that gains least from replicas. */
  static LowerBound best(CutCosts costs, List<BandwidthLevel> levels) {
    long devices = 1;
    for (BandwidthLevel level : levels) {
      devices = Math.multiplyExact(devices, level.units());
    }
    double even = costs.exact(0, costs.last()) / devices;
    int slowest = 0;
    double most = 0;
    for (int layer = 0; layer < costs.chain().graph().size(); layer++) {
      double seconds = alone(costs, levels, layer);
      if (seconds > most) {
        most = seconds;
        slowest = layer;
      }
    }
    return most > even
        ? new LowerBound(
            most, "layer " + costs.chain().graph().layer(slowest).name() + " alone on any devices")
        : new LowerBound(even, "work / devices");
  }

  /** Some stage has the layer; more layers on the same devices take no less. */
  private static double alone(CutCosts costs, List<BandwidthLevel> levels, int layer) {
    double seconds = costs.layerSeconds(layer);
    int below = 1;
    for (BandwidthLevel level : levels) {
      double exchange = 4 * costs.layerParameterBytes(layer) / (level.bytesPerSecond() * below);
      double least = seconds;
      for (int r = 2; r <= level.units(); r++) {
        least = Math.min(least, (seconds + exchange * (r - 1) / r) / r);
      }
      seconds = least;
      below = level.units();
    }
    return seconds;
  }

  /** All layers on all devices, as the authors' program compares with. */
  static double dataParallel(CutCosts costs, List<BandwidthLevel> levels) {
    double seconds = costs.exact(0, costs.last());
    double bytes = costs.parameterBytes(0, costs.last());
    int below = 1;
    for (BandwidthLevel level : levels) {
      int r = level.units();
      seconds = (seconds + 4 * bytes * (r - 1) / (level.bytesPerSecond() * r * below)) / r;
      below = r;
    }
    return seconds;
  }
}

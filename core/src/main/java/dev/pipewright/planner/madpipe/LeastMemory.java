package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import java.util.Arrays;

/**
 * The least memory per device with which one stage per device fits, one batch at a time: from there
 * on a plan exists, however slow.
 *
 * <p>Exact, by a dynamic program over positions, O(devices · layers²). Devices with several stages
 * may do with less.
 */
public final class LeastMemory {
  private LeastMemory() {}

  /** Bytes of each device with at most so many devices, where all is kept. */
  public static double bytes(LayerChain chain, int devices) {
    return bytes(chain, devices, Recomputation.NEVER);
  }

  /**
   * The same where layers may run again.
   *
   * @param recomputation which of them
   */
  static double bytes(LayerChain chain, int devices, Recomputation recomputation) {
    int most = Math.min(devices, chain.layers());
    return byDevices(chain, most, recomputation)[most];
  }

  /** The fewest devices of so much memory that do; 0 where one layer alone takes more. */
  public static int devices(LayerChain chain, double capacityBytes) {
    return devices(chain, capacityBytes, Recomputation.NEVER);
  }

  static int devices(LayerChain chain, double capacityBytes, Recomputation recomputation) {
    double[] bytes = byDevices(chain, chain.layers(), recomputation);
    for (int devices = 1; devices < bytes.length; devices++) {
      if (bytes[devices] <= capacityBytes) {
        return devices;
      }
    }
    return 0;
  }

  private static double[] byDevices(LayerChain chain, int most, Recomputation recomputation) {
    double[][] stages = stages(chain, recomputation);
    double[] largest = new double[chain.layers() + 1]; // by end: the best cut of what is before
    Arrays.fill(largest, Double.POSITIVE_INFINITY);
    largest[0] = 0;
    double[] bytes = new double[most + 1];
    bytes[0] = Double.POSITIVE_INFINITY;
    for (int devices = 1; devices <= most; devices++) {
      for (int end = chain.layers(); end >= 1; end--) { // downwards: largest[first] is of one fewer
        for (int first = 0; first < end; first++) {
          largest[end] = Math.min(largest[end], Math.max(largest[first], stages[first][end]));
        }
      }
      bytes[devices] = largest[chain.layers()];
    }
    return bytes;
  }

  /** Bytes with one batch of each stage, by first layer and end. */
  private static double[][] stages(LayerChain chain, Recomputation recomputation) {
    TradeOffs sizes = chain.sizes(recomputation);
    double[][] stages = new double[chain.layers()][chain.layers() + 1];
    for (int first = 0; first < chain.layers(); first++) {
      for (int end = first + 1; end <= chain.layers(); end++) {
        double held =
            recomputation == Recomputation.NEVER
                ? chain.activationBytes(first, end)
                : sizes.leastBytes(first, end, 1);
        stages[first][end] = chain.stateBytes(first, end) + held;
      }
    }
    return stages;
  }
}

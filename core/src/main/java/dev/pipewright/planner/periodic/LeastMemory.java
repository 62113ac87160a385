package dev.pipewright.planner.periodic;

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

  /** Bytes of each device with at most so many devices. */
  public static double bytes(LayerChain chain, int devices) {
    return byDevices(chain, Math.min(devices, chain.layers()))[Math.min(devices, chain.layers())];
  }

  /** The fewest devices of so much memory that do; 0 where one layer alone takes more. */
  public static int devices(LayerChain chain, double capacityBytes) {
    double[] bytes = byDevices(chain, chain.layers());
    for (int devices = 1; devices < bytes.length; devices++) {
      if (bytes[devices] <= capacityBytes) {
        return devices;
      }
    }
    return 0;
  }

  private static double[] byDevices(LayerChain chain, int most) {
    double[] largest = new double[chain.layers() + 1]; // by end: the best cut of what is before
    Arrays.fill(largest, Double.POSITIVE_INFINITY);
    largest[0] = 0;
    double[] bytes = new double[most + 1];
    bytes[0] = Double.POSITIVE_INFINITY;
    for (int devices = 1; devices <= most; devices++) {
      for (int end = chain.layers(); end >= 1; end--) { // downwards: largest[first] is of one fewer
        for (int first = 0; first < end; first++) {
          double stage = chain.stateBytes(first, end) + chain.activationBytes(first, end);
          largest[end] = Math.min(largest[end], Math.max(largest[first], stage));
        }
      }
      bytes[devices] = largest[chain.layers()];
    }
    return bytes;
  }
}

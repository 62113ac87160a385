package dev.pipewright.planner.memory;

import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;

/**
 * A partition that was run and the peaks that it was seen to need.
 *
 * @param sizes layers on each device
 * @param bytes the most that each device held
 */
public record ProfilingRun(int[] sizes, double[] bytes) {
  public ProfilingRun {
    Check.that(
        sizes.length == bytes.length,
        "one peak for each device: devices=%d, peaks=%d",
        sizes.length,
        bytes.length);
  }

  /**
   * The two metrics of every layer, each the mean over all runs that show it: a layer's own peak
   * where it stands alone, and what it adds wherever two stages begin at the same layer and end
   * before and after it.
   *
   * <p>Throws, naming the layer, where no run shows a metric. O(layers · runs²).
   *
   * @param runs of the same network, in any order, over any numbers of devices
   */
  public static LayerPeaks peaks(List<ProfilingRun> runs) {
    Check.that(!runs.isEmpty(), "peaks are read off runs: runs=%d", runs.size());
    int layers = Arrays.stream(runs.get(0).sizes).sum();
    double[][] stage = new double[layers][]; // by first layer and end: the means
    for (int first = 0; first < layers; first++) {
      stage[first] = new double[layers + 1];
    }
    int[][] times = new int[layers][layers + 1];
    for (ProfilingRun run : runs) {
      Check.that(
          Arrays.stream(run.sizes).sum() == layers,
          "runs are of one network: layers=%d and %d",
          layers,
          Arrays.stream(run.sizes).sum());
      int first = 0;
      for (int device = 0; device < run.sizes.length; device++) {
        int end = first + run.sizes[device];
        stage[first][end] += run.bytes[device];
        times[first][end]++;
        first = end;
      }
    }
    double[] alone = new double[layers];
    double[] added = new double[layers];
    for (int layer = 0; layer < layers; layer++) {
      alone[layer] = stage[layer][layer + 1] / times[layer][layer + 1]; // 0 / 0 is NaN: a hole
      added[layer] = added(stage, times, layer);
    }
    return new LayerPeaks(alone, added);
  }

  /** The mean over all pairs of stages that begin alike and end before and after a layer. */
  private static double added(double[][] stage, int[][] times, int layer) {
    double sum = 0;
    long pairs = 0;
    for (int first = 0; first < layer; first++) {
      long before = times[first][layer];
      long after = times[first][layer + 1];
      if (before > 0 && after > 0) {
        sum += before * stage[first][layer + 1] - after * stage[first][layer];
        pairs += before * after;
      }
    }
    return sum / pairs;
  }
}

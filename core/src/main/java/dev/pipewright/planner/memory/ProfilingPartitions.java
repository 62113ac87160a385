package dev.pipewright.planner.memory;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The partitions that mCAP runs to measure both metrics of every layer: about one for each layer.
 *
 * <p>A run puts a layer alone on a device behind devices that the layers before it fill; from run
 * to run the last of those grows by one layer, and the difference of two peaks is what that layer
 * adds. The layers behind are dealt out evenly: what they need does not matter as long as they
 * exist. Whenever a device is full, one run gives it one layer too many, which is the layer that
 * the next device would begin with. {@link ProfilingRun#peaks} reads the metrics off.
 *
 * <p>Source: mCAP (see the package), the profiler of its authors; the same partitions in the same
 * order, the repeated one included. O(layers · devices).
 */
public final class ProfilingPartitions {
  private final int devices;
  private final int layers;
  private final int full; // layers of a device that has its share
  private final List<int[]> runs = new ArrayList<>();

  private ProfilingPartitions(int devices, int layers) {
    this.devices = devices;
    this.layers = layers;
    this.full = (layers - 2) / (devices - 2) + 1;
  }

  /**
   * For each run the number of layers on each device.
   *
   * @param devices at least three: one grows, one holds a single layer, one takes the rest
   * @param layers at least twice the devices less two
   */
  public static List<int[]> partitions(int devices, int layers) {
    Check.that(devices >= 3, "profiling peaks takes at least 3 devices: devices=%d", devices);
    Check.that(
        layers >= 2 * devices - 2,
        "profiling on %d devices takes at least %d layers: layers=%d; use fewer devices",
        devices,
        2 * devices - 2,
        layers);
    return new ProfilingPartitions(devices, layers).run();
  }

  private List<int[]> run() {
    for (int alone = 1; alone < layers - 1; alone++) {
      before(alone);
    }
    int[] last = runs.get(runs.size() - 1);
    if (last[devices - 3] > 1) { // nothing ends before and after the last layer but one
      runs.add(moved(last, devices - 1));
      runs.add(moved(last, devices - 2));
    }
    return runs;
  }

  /**
   * A run in which {@code count} layers fill devices from the first and the next one stands alone.
   */
  private void before(int count) {
    int filled = count / full;
    int[] sizes = new int[devices];
    Arrays.fill(sizes, 0, filled, full);
    if (count % full == 0) {
      sizes[filled - 1]++;
      sizes[filled] = 1;
    } else {
      sizes[filled] = count % full;
    }
    int next = filled + 1;
    int left = layers - Arrays.stream(sizes).sum() - 1;
    if (left < devices - next - 1) {
      return; // a device would go without
    }
    sizes[next] = 1;
    dealOut(sizes, next + 1, left);
    runs.add(sizes);
  }

  /** The same with one layer fewer on the third device from the end and one more on {@code to}. */
  private int[] moved(int[] sizes, int to) {
    int[] other = sizes.clone();
    other[devices - 3]--;
    other[to]++;
    return other;
  }

  /** Evenly, earlier devices taking what does not divide. */
  private void dealOut(int[] sizes, int from, int count) {
    int takers = devices - from;
    for (int device = from; device < devices; device++) {
      sizes[device] = count / takers + (device - from < count % takers ? 1 : 0);
    }
  }
}

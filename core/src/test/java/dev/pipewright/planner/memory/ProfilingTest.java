package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ProfilingTest {
  private static List<ProfilingRun> measured(LayerPeaks truth, int devices) {
    List<ProfilingRun> runs = new ArrayList<>();
    for (int[] sizes : ProfilingPartitions.partitions(devices, truth.layers())) {
      runs.add(new ProfilingRun(sizes, truth.bytes(sizes)));
    }
    return runs;
  }

  @Test
  void everyRunUsesEveryDeviceAndEveryLayerAndShowsBothMetricsOfAllLayers() {
    for (int devices = 3; devices <= 12; devices++) {
      for (int layers = 2 * devices - 2; layers <= 70; layers++) {
        String place = devices + " devices, " + layers + " layers";
        LayerPeaks truth = RandomPeaks.ofLayers(new SplittableRandom(layers), layers);
        List<ProfilingRun> runs = measured(truth, devices);
        assertTrue(runs.size() <= layers, place);
        for (ProfilingRun run : runs) {
          assertEquals(devices, run.sizes().length, place);
          assertEquals(layers, Arrays.stream(run.sizes()).sum(), place);
          assertTrue(Arrays.stream(run.sizes()).min().orElseThrow() >= 1, place);
        }
        LayerPeaks found = ProfilingRun.peaks(runs);
        for (int layer = 0; layer < layers; layer++) {
          assertEquals(truth.alone(layer), found.alone(layer), 1e-9, place);
          if (layer > 0) {
            assertEquals(truth.added(layer), found.added(layer), 1e-9, place);
          }
        }
      }
    }
  }

  /** Layer 1 adds 10 and 13, 12 and 15 by the four pairs of runs: 12.5. */
  @Test
  void severalRunsGiveTheMeanOfAllPairs() {
    LayerPeaks found =
        ProfilingRun.peaks(
            List.of(
                new ProfilingRun(new int[] {1, 2}, new double[] {5, 9}),
                new ProfilingRun(new int[] {1, 1, 1}, new double[] {3, 7, 4}),
                new ProfilingRun(new int[] {2, 1}, new double[] {15, 6}),
                new ProfilingRun(new int[] {2, 1}, new double[] {18, 8})));
    assertEquals(4, found.alone(0));
    assertEquals(7, found.alone(1));
    assertEquals(6, found.alone(2));
    assertEquals(12.5, found.added(1));
    assertEquals(2, found.added(2));
  }

  @Test
  void aMetricThatNoRunShowsIsNamed() {
    var noPair =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                ProfilingRun.peaks(
                    List.of(new ProfilingRun(new int[] {1, 1, 1}, new double[] {1, 1, 1}))));
    assertEquals(
        "layer 1 has no added peak: added=NaN; run two partitions with a stage that ends before it"
            + " and after it",
        noPair.getMessage());
    var neverAlone =
        assertThrows(
            IllegalArgumentException.class,
            () -> ProfilingRun.peaks(List.of(new ProfilingRun(new int[] {1, 2}, new double[2]))));
    assertEquals(
        "layer 1 has no peak of its own: alone=NaN; run a partition that puts it alone on a device",
        neverAlone.getMessage());
  }

  @Test
  void tooFewLayersOrDevicesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> ProfilingPartitions.partitions(2, 10));
    assertThrows(IllegalArgumentException.class, () -> ProfilingPartitions.partitions(4, 5));
    assertArrayEquals(new int[] {1, 1, 2}, ProfilingPartitions.partitions(3, 4).get(0));
  }
}

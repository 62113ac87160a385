package dev.pipewright.formats.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.planner.memory.Balance;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.ProfilingPartitions;
import dev.pipewright.planner.memory.ProfilingRun;
import dev.pipewright.planner.memory.TieBreak;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The program of mCAP's authors runs the same partitions and finds the same ones. */
class ReferenceMcapTest {
  private static JsonNode cases(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "mcap", name);
    assumeTrue(Files.exists(file), "no reference cases " + file);
    return JsonMapper.shared().readTree(file.toFile()).get("cases");
  }

  private static int[] ints(JsonNode list) {
    return list.valueStream().mapToInt(JsonNode::asInt).toArray();
  }

  private static double[] doubles(JsonNode list) {
    return list.valueStream().mapToDouble(JsonNode::asDouble).toArray();
  }

  @Test
  void profilesTheSamePartitionsInTheSameOrder() {
    int compared = 0;
    for (JsonNode one : cases("profiling-partitionings.json")) {
      int devices = one.get("n_gpus").asInt();
      int layers = one.get("n_layers").asInt();
      List<int[]> found = ProfilingPartitions.partitions(devices, layers);
      String place = devices + " devices, " + layers + " layers";
      assertEquals(one.get("profiling_runs").asInt(), found.size(), place);
      for (int run = 0; run < found.size(); run++) {
        assertArrayEquals(ints(one.get("partitionings").get(run)), found.get(run), place);
        compared++;
      }
    }
    assertTrue(compared > 200, compared + " runs");
  }

  @Test
  void readsTheSameMetricsOffTheRuns() {
    for (JsonNode one : cases("brute-force-cases.json")) {
      LayerPeaks truth = new LayerPeaks(doubles(one.get("iso")), doubles(one.get("added")));
      List<ProfilingRun> runs = new ArrayList<>();
      for (int[] sizes :
          ProfilingPartitions.partitions(one.get("n_gpus").asInt(), truth.layers())) {
        runs.add(new ProfilingRun(sizes, truth.bytes(sizes)));
      }
      LayerPeaks found = ProfilingRun.peaks(runs);
      for (int layer = 0; layer < truth.layers(); layer++) {
        JsonNode theirs = one.get("extracted").get(String.valueOf(layer));
        assertEquals(theirs.get("mem_isolated").asDouble(), found.alone(layer));
        if (layer > 0) {
          assertEquals(theirs.get("mem_added").asDouble(), found.added(layer));
        }
      }
    }
  }

  @Test
  void findsTheSamePartitionByBruteForceAndByDynamicProgramming() {
    int compared = 0;
    for (JsonNode one : cases("brute-force-cases.json")) {
      LayerPeaks peaks = new LayerPeaks(doubles(one.get("iso")), doubles(one.get("added")));
      int devices = one.get("n_gpus").asInt();
      JsonNode theirs = one.get("bf");
      Balance brute = McapBruteForce.of(peaks, peaks.layers(), devices, () -> false);
      Balance exact = McapExact.of(peaks, peaks.layers(), devices, TieBreak.NEXT_PEAKS);
      for (Balance ours : List.of(brute, exact)) {
        String place = "seed " + one.get("seed") + ", " + ours.planner();
        assertArrayEquals(ints(theirs.get("partitioning")), ours.sizes(), place);
        assertArrayEquals(doubles(theirs.get("prediction")), ours.bytes(), place);
        assertEquals(theirs.get("peak").asDouble(), ours.peakBytes(), place);
        assertEquals(theirs.get("peak").asDouble(), ours.lowerBound().value(), place);
      }
      compared++;
    }
    assertEquals(5, compared);
  }
}

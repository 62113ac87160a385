package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.execution.ProfilingOutcome;
import dev.pipewright.execution.ProfilingOutcome.BatchFigures;
import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.execution.ProfilingService;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.cluster.CollectiveTimings;
import dev.pipewright.formats.cluster.TimingSelection;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.profile.ProfileJson;
import dev.pipewright.formats.profile.ProfilingJson;
import dev.pipewright.model.Optimizer;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.Profile.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Profiles with worker processes. Times are looked at for their order only. */
class ProfilerTest {
  private static final String PERCEPTRON = "mlp:layers=3,hidden=32,in=16,classes=4";
  private static final String SMALLER = "mlp:layers=2,hidden=32,in=16,classes=4";
  private static final long LARGEST = 1 << 22;

  /**
   * Of one worker, with times of the wall clock. Sizes and sums are the same in every repeat, so
   * one is enough.
   */
  private static ProfilingOutcome clocked;

  @BeforeAll
  static void measure() {
    clocked =
        profiled(
            request(PERCEPTRON, List.of(1, 2, 4), 1, 1, List.of(), OptionalInt.empty(), false));
  }

  private static ProfilingRequest request(
      String model, List<Integer> batches, List<Integer> groups, OptionalInt memoryDevices) {
    return request(model, batches, 1, 1, groups, memoryDevices, true);
  }

  private static ProfilingRequest request(
      String model,
      List<Integer> batches,
      int repeats,
      int workers,
      List<Integer> groups,
      OptionalInt memoryDevices,
      boolean processorTime) {
    return new ProfilingRequest(
        model,
        OptionalInt.empty(),
        "synthetic",
        batches,
        repeats,
        workers,
        1,
        Optimizer.ADAM,
        groups,
        LARGEST,
        memoryDevices,
        processorTime,
        "pipewright profile");
  }

  private static ProfilingOutcome profiled(ProfilingRequest request) {
    return new Profiler().profile(request, words -> {});
  }

  @Test
  void isFoundAsAService() {
    assertTrue(ServiceLoader.load(ProfilingService.class).findFirst().isPresent());
  }

  @Test
  void whatIsWrittenIsReadBackEqual(@TempDir Path folder) throws IOException {
    ProfilingOutcome outcome =
        profiled(request(SMALLER, List.of(1, 4), List.of(2), OptionalInt.of(3)));
    checkProfile(outcome, folder.resolve("profile.json"));
    checkStep(outcome);
    checkLinks(outcome, folder);
    Path peaks = Files.writeString(folder.resolve("peaks.json"), ProfilingJson.peaks(outcome));
    LayerPeaks metrics = McapTable.read(peaks);
    assertEquals(outcome.graph().size(), metrics.layers());
    String text = ProfilingJson.text(outcome);
    for (String key : List.of("op_overhead", "summed_s", "median", "peak_bytes", "sum_parts")) {
      assertTrue(text.contains("\"" + key + "\"") || text.contains(key), key);
    }
    JsonNode overhead = new JsonMapper().readTree(text).get("message_overhead");
    assertEquals(
        outcome.cluster().orElseThrow().software().message(),
        new MessageOverhead(
            overhead.get("per_message_s").asDouble(), overhead.get("per_byte_s").asDouble()));
  }

  private static void checkProfile(ProfilingOutcome outcome, Path file) throws IOException {
    Files.writeString(file, ProfilingJson.profile(outcome));
    ModelFile read = ProfileJson.read(file);
    assertEquals(outcome.profile(), read.profile());
    assertEquals(Optimizer.ADAM, read.training().orElseThrow().optimizer());
    assertEquals(List.of(1, 4), read.profile().samples());
    assertTrue(read.profile().splitsBackward());
    BatchFigures largest = outcome.batches().get(1);
    assertEquals((double) largest.keptBytes(), 4 * Arrays.stream(read.profile().keptBytes()).sum());
    assertEquals(
        (double) largest.layers().stream().mapToLong(LayerFigures::parameterBytes).sum(),
        Arrays.stream(read.profile().parameterBytes()).sum());
  }

  private static void checkStep(ProfilingOutcome outcome) {
    for (BatchFigures batch : outcome.batches()) {
      double forward = sum(outcome, Quantity.FORWARD, batch.samples());
      double backward = sum(outcome, Quantity.BACKWARD, batch.samples());
      double update = sum(outcome, Quantity.UPDATE, batch.samples());
      assertEquals(
          batch.microBatches() * (forward + backward) + update, batch.summedSeconds(), 1e-12);
      assertTrue(batch.stepSeconds().least() > 0);
      // By the processor's time; so small a network is mostly overhead, so that is all to be said.
      double ratio = batch.summedSeconds() / batch.stepSeconds().median();
      assertTrue(ratio > 0.1 && ratio < 10, "sum of layers to whole: " + ratio);
    }
  }

  private static double sum(ProfilingOutcome outcome, Quantity quantity, int samples) {
    return Arrays.stream(outcome.profile().seconds(quantity, samples)).sum();
  }

  private static void checkLinks(ProfilingOutcome outcome, Path folder) throws IOException {
    Cluster cluster = outcome.cluster().orElseThrow();
    Path yaml = Files.writeString(folder.resolve("cluster.yaml"), ClusterYaml.text(cluster));
    assertEquals(cluster, ClusterYaml.read(yaml));
    assertEquals(2, cluster.size());
    SumsInTraining sums = outcome.sums().orElseThrow();
    assertEquals(2, sums.workers());
    assertEquals(4, sums.samples());
    assertTrue(sums.alone() > 0 && sums.after() > 0 && sums.beside() > 0);
    assertEquals(outcome.profile().provenance().device(), cluster.device(0).name());
    assertEquals(
        List.of("message", "sum", "broadcast", "gather", "sum_parts"),
        outcome.links().stream().map(LinkFigures::operation).toList());
    List<CollectiveTiming> all = new ArrayList<>();
    for (LinkFigures link : outcome.links()) {
      all.addAll(link.timings());
      for (int i = 1; i < link.timings().size(); i++) {
        assertTrue(link.timings().get(i).bytes() > link.timings().get(i - 1).bytes());
        assertTrue(link.timings().get(i).seconds() >= link.timings().get(i - 1).seconds());
      }
      assertEquals(4, link.timings().get(0).bytes(), 4);
      assertEquals(LARGEST, link.timings().get(link.timings().size() - 1).bytes());
    }
    Path csv = Files.writeString(folder.resolve("links.csv"), ProfilingJson.timings(outcome));
    List<CollectiveTiming> read = CollectiveTimings.read(csv, TimingSelection.ALL).timings();
    assertEquals(all, read);
  }

  @Test
  void workersThatKeepCompanyLeaveSizesAsTheyAre() {
    ProfilingOutcome together =
        profiled(request(PERCEPTRON, List.of(4), 1, 2, List.of(), OptionalInt.empty(), true));
    checkStep(together);
    BatchFigures alone = clocked.batches().get(2);
    assertEquals(alone.keptBytes(), together.batches().get(0).keptBytes());
    assertArrayEquals(clocked.profile().keptBytes(), together.profile().keptBytes());
    assertEquals(List.of(alone.samples()), together.profile().samples());
    clocked.batches().forEach(batch -> assertEquals(1, batch.workers()));
    together.batches().forEach(batch -> assertEquals(2, batch.workers()));
  }

  @Test
  void layersAddUpToTheOpsOfWholeSteps() {
    ProfilingOutcome outcome = clocked;
    for (BatchFigures batch : outcome.batches()) {
      int samples = batch.samples();
      assertEquals(batch.ops().forward(), sum(outcome, Quantity.FORWARD, samples), 1e-12);
      assertEquals(batch.ops().backward(), sum(outcome, Quantity.BACKWARD, samples), 1e-12);
      assertEquals(
          batch.ops().inputGradient(), sum(outcome, Quantity.INPUT_GRADIENT, samples), 1e-12);
      assertEquals(
          batch.ops().weightGradient(), sum(outcome, Quantity.WEIGHT_GRADIENT, samples), 1e-12);
    }
    double[] once =
        outcome.batches().stream()
            .mapToDouble(batch -> batch.ops().update() + batch.ops().rest())
            .sorted()
            .toArray();
    assertEquals(Math.max(0, once[1]), sum(outcome, Quantity.UPDATE, 1), 1e-12);
  }

  @Test
  void aNetworkOfWhichOnlySizesAreKnownIsRefused() {
    BadInputException refused =
        refused(request("amoebanet-36", List.of(1), List.of(), OptionalInt.empty()));
    assertTrue(String.valueOf(refused.getMessage()).contains("cannot be measured"));
  }

  @Test
  void whatWillNotFitIntoMemoryIsRefusedBeforeTheStart() {
    BadInputException refused =
        refused(request(PERCEPTRON, List.of(2_000_000_000), List.of(), OptionalInt.empty()));
    assertTrue(String.valueOf(refused.getMessage()).contains("of memory"), refused.getMessage());
  }

  @Test
  void memoryMetricsOfTooFewLayersAreRefusedInASentence() {
    BadInputException refused =
        refused(
            request(
                "mlp:layers=1,hidden=8,in=8,classes=2", List.of(1), List.of(), OptionalInt.of(5)));
    assertTrue(String.valueOf(refused.getMessage()).contains("--memory-metrics"));
  }

  private static BadInputException refused(ProfilingRequest request) {
    return assertThrows(BadInputException.class, () -> profiled(request));
  }
}

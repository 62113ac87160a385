package dev.pipewright.formats.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.profile.ProfileJson;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.trace.RankShares;
import dev.pipewright.trace.Timeline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trace of two layers, four samples and {@code steps} steps of 1000 µs on two streams:
 *
 * <pre>
 * compute  │ F0 100  F1 200 . B1 300 B0 150 .   U 50
 * exchange │                .        all-reduce 250
 * </pre>
 */
class TracedRunTest {
  @TempDir Path folder;

  private final List<String> events = new ArrayList<>();
  private int correlation = 10;

  private void add(
      String category, String name, String thread, double start, double end, String args) {
    events.add(
        String.format(
            Locale.ROOT,
            "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 7, \"tid\": %s, \"ts\": %.3f,"
                + " \"dur\": %.3f, \"args\": {%s}}",
            category,
            name,
            thread,
            start,
            end - start,
            args));
  }

  /** A kernel, which a thread launches at a time. */
  private void kernel(
      String name, int stream, String thread, double launch, double start, double end) {
    String of = "\"correlation\": " + ++correlation;
    add("cuda_runtime", "cudaLaunchKernel", thread, launch, launch + 1, of);
    add(
        "kernel",
        name,
        "" + stream,
        start,
        end,
        of + ", \"stream\": " + stream + ", \"device\": 0");
  }

  private void forward(double at, int layer, int sequence, String dimensions) {
    add("python_function", "nn.Module: Linear_" + layer, "1", at, at + 20, "");
    add(
        "cpu_op",
        "aten::linear",
        "1",
        at + 1,
        at + 19,
        "\"Sequence number\": "
            + sequence
            + ", \"Input Dims\": "
            + dimensions
            + ", \"Input type\": [\"float\", \"float\", \"float\"]");
  }

  private void backward(double at, int sequence) {
    add(
        "cpu_op",
        "autograd::engine::evaluate_function: AddmmBackward0",
        "2",
        at,
        at + 10,
        "\"Sequence number\": " + sequence + ", \"Fwd thread id\": 1");
  }

  private void step(int step, double allReduce) {
    double at = 1000 * step;
    int sequence = 2 * step;
    add("user_annotation", "ProfilerStep#" + step, "1", at, at + 990, "");
    add("python_function", "nn.Module: Net_0", "1", at + 1, at + 60, "");
    forward(at + 2, 0, sequence, "[[4, 8], [16, 8], [16]]");
    kernel("gemm", 7, "1", at + 5, at + 100, at + 200);
    forward(at + 30, 1, sequence + 1, "[[4, 16], [2, 16], [2]]");
    kernel("gemm", 7, "1", at + 35, at + 200, at + 400);
    backward(at + 70, sequence + 1);
    kernel("gemm", 7, "2", at + 75, at + 450, at + 750);
    add(
        "cpu_op",
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
        "2",
        at + 81,
        at + 83,
        "");
    backward(at + 90, sequence);
    kernel("gemm", 7, "2", at + 95, at + 750, at + 900);
    add(
        "user_annotation",
        "nccl:all_reduce",
        "2",
        at + 85,
        at + 89,
        "\"Input Dims\": [[162]], \"Input type\": [\"float\"]");
    kernel(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 9, "2", at + 87, at + 700, at + 700 + allReduce);
    add("user_annotation", "Optimizer.step#SGD.step", "1", at + 100, at + 120, "");
    kernel("foreach", 7, "1", at + 105, at + 1000, at + 1050);
  }

  private Path trace(String name, int rank, int steps, double allReduce) throws IOException {
    events.clear();
    for (int step = 0; step < steps; step++) {
      step(step, step == 0 ? 2 * allReduce : allReduce);
    }
    Collections.shuffle(events, new Random(3)); // files have no order to rely on
    return write(name, rank);
  }

  private Path write(String name, int rank) throws IOException {
    String text =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": 2},"
                .formatted(rank)
            + " \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100\"}], \"traceEvents\": [\n"
            + String.join(",\n", events)
            + "]}";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (name.endsWith(".gz")) {
      ByteArrayOutputStream zipped = new ByteArrayOutputStream();
      try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
        out.write(bytes);
      }
      bytes = zipped.toByteArray();
    }
    return Files.write(folder.resolve(name), bytes);
  }

  @Test
  void sharesOfARankAreThoseOfTheDrawing() throws IOException {
    TracedRun run = TracedRun.read(List.of(trace("a.json", 1, 3, 250)), false);
    RankShares shares = run.shares().get(0);
    assertEquals(1, shares.rank());
    assertEquals(950e-6, shares.seconds(), 1e-9);
    assertEquals(800e-6, shares.busy(), 1e-9);
    assertEquals(50e-6, shares.exposed(), 1e-9); // from 900 to 950
    assertEquals(100e-6, shares.idle(), 1e-9);
    assertEquals(2, run.worldSize());
    assertEquals(0, run.unattributedShare());
  }

  @Test
  void layersHaveTheTimesOfTheirModulesInBothPasses() throws IOException {
    List<Path> files = List.of(trace("a.json.gz", 0, 3, 250), trace("b.json", 1, 3, 230));
    TracedRun run = TracedRun.read(files, false);
    assertEquals(OptionalInt.of(4), TracedProfile.samples(run));
    ModelFile file = TracedProfile.of(run, 4, "traced", "a, b").orElseThrow();
    assertEquals(
        List.of("Linear_0", "Linear_1"),
        file.graph().layers().stream().map(layer -> layer.name()).toList());
    LayerTimes first = file.profile().times(0).get(0);
    LayerTimes second = file.profile().times(0).get(1);
    assertArrayEquals(
        new double[] {100e-6, 150e-6, 50e-6 * 144 / 178},
        new double[] {first.forward(), first.backward(), first.update()},
        1e-9);
    assertArrayEquals(
        new double[] {200e-6, 300e-6, 50e-6 * 34 / 178},
        new double[] {second.forward(), second.backward(), second.update()},
        1e-9);
    assertEquals(144, file.graph().layer(0).parameters());
    assertEquals(16, file.graph().layer(0).outputElements());
    assertEquals(64, file.profile().sizes(0).output());
    assertTrue(file.profile().provenance().toString().contains("NVIDIA A100"));
    Path written = folder.resolve("profile.json");
    ProfileJson.write(written, file);
    assertEquals(150e-6, ProfileJson.read(written).profile().times(0).get(0).backward(), 1e-9);
  }

  @Test
  void aCollectiveTakesWhatTheLastRankToComeTakes() throws IOException {
    List<Path> files = List.of(trace("a.json", 0, 3, 250), trace("b.json", 1, 3, 230));
    CollectiveTiming only = TracedRun.read(files, false).collectives().get(0);
    assertEquals(Kind.ALL_REDUCE, only.kind());
    assertEquals(2, only.devices());
    assertEquals(4 * 162, only.bytes());
    assertEquals(230e-6, only.seconds(), 1e-9);
  }

  @Test
  void eachStreamHasALine() throws IOException {
    TracedRun run = TracedRun.read(List.of(trace("a.json", 0, 3, 250)), false);
    Timeline timeline = run.timeline();
    assertEquals(
        "[Line[rank=0, stream=stream 7], Line[rank=0, stream=stream 9]]",
        run.lines().stream()
            .sorted((a, b) -> a.stream().compareTo(b.stream()))
            .toList()
            .toString());
    List<String> kinds =
        timeline.compute().stream()
            .map(lane ->
                lane.slices().stream().map(slice -> slice.kind().name()).toList().toString())
            .sorted()
            .toList();
    assertEquals(List.of("[ALL_REDUCE]", "[FORWARD, BACKWARD, UPDATE]"), kinds);
  }

  @Test
  void whatBelongsToNoModuleIsSaidWithItsShare() throws IOException {
    events.clear();
    step(0, 250);
    kernel("mystery", 7, "3", 500, 900, 1000);
    TracedRun run = TracedRun.read(List.of(write("a.json", 0)), false);
    assertEquals(100.0 / 900, run.unattributedShare(), 1e-9);
    assertEquals(List.of("mystery"), run.unattributed());
  }

  @Test
  void withoutKernelsOperatorsAreTheWork() throws IOException {
    events.clear();
    add("user_annotation", "ProfilerStep#1", "1", 0, 100, "");
    add("cpu_op", "aten::linear", "1", 10, 40, "\"Sequence number\": 0");
    add("cpu_op", "aten::addmm", "1", 12, 39, "\"Sequence number\": 0");
    backward(50, 0);
    TracedRun run = TracedRun.read(List.of(write("a.json", 0)), false);
    ModelFile file = TracedProfile.of(run, 1, "traced", "a").orElseThrow();
    assertEquals("linear-1", file.graph().layer(0).name());
    assertEquals(30e-6, file.profile().times(0).get(0).forward(), 1e-9);
    assertEquals(10e-6, file.profile().times(0).get(0).backward(), 1e-9);
  }

  private String refusal(Path... files) {
    return String.valueOf(
            assertThrows(BadInputException.class, () -> TracedRun.read(List.of(files), false))
                .getMessage())
        .replace(folder + "/", "");
  }

  @Test
  void badTracesAreSaidInASentence() throws IOException {
    Path good = trace("a.json", 0, 1, 250);
    String text = Files.readString(good);
    Path cut =
        Files.writeString(folder.resolve("cut.json"), text.substring(0, text.length() - 500));
    assertTrue(
        refusal(cut).matches("cut.json:\\d+:\\d+: the file ends inside .*; write it again"),
        () -> refusal(cut));
    byte[] zipped = Files.readAllBytes(trace("b.json.gz", 0, 1, 250));
    Path half =
        Files.write(folder.resolve("half.json.gz"), Arrays.copyOf(zipped, zipped.length / 2));
    assertEquals("half.json.gz: ends before its compressed data do; copy it again", refusal(half));
    Path foreign = Files.writeString(folder.resolve("foreign.json"), "{\"nodes\": []}");
    assertEquals(
        "foreign.json: is no trace of PyTorch's profiler, as it has no \"traceEvents\"; give what"
            + " export_chrome_trace wrote, or a folder of --dump_pp_data",
        refusal(foreign));
    events.removeIf(event -> event.contains("ProfilerStep"));
    assertEquals(
        "none.json: has no steps; call the profiler's step() after each one, or give --whole to"
            + " take all of it as one step",
        refusal(write("none.json", 0)));
    assertEquals(
        "c.json: is of rank 0, as a.json is; give one file for each rank",
        refusal(good, trace("c.json", 0, 1, 250)).replace(folder + "/", ""));
  }

  @Test
  void anyCutOfATraceIsRefusedInASentence() throws IOException {
    byte[] bytes = Files.readAllBytes(trace("a.json", 0, 1, 250));
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      byte[] cut = Arrays.copyOf(bytes, random.nextInt(1, bytes.length - 2));
      String said = refusal(Files.write(folder.resolve("cut.json"), cut));
      assertTrue(said.startsWith("cut.json") && said.contains("; "), said);
    }
  }

  @Test
  @Timeout(60) // it takes one; what is quadratic takes hours
  void manyStepsTakeNoLongerThanTheirNumber() throws IOException {
    TracedRun run = TracedRun.read(List.of(trace("a.json", 0, 4000, 250)), false);
    assertEquals(3999, run.steps());
    assertEquals(0, run.unknownCommunicationShare());
    assertTrue(TracedProfile.of(run, 4, "a", "b").isPresent());
    assertEquals(950e-6, run.timeline().stepSeconds(), 1e-9);
  }

  @Test
  void tracesOfOthersAreRead() {
    String reference = System.getProperty("reference.dir", "");
    Path traces = Path.of(reference, "interop", "kineto");
    Assumptions.assumeTrue(!reference.isEmpty() && Files.exists(traces), "no reference data");
    TracedRun amd = TracedRun.read(List.of(traces.resolve("mi250_train.trace.json.gz")), false);
    ModelFile file = TracedProfile.of(amd, 10, "amd", "mi250").orElseThrow();
    assertEquals(
        List.of("linear-1", "relu-1", "mse_loss-1"),
        file.graph().layers().stream().map(layer -> layer.name()).toList());
    assertTrue(amd.unattributedShare() < 0.05, "" + amd.unattributedShare());
    TracedRun sampled = TracedRun.read(List.of(traces.resolve("sampled_rank-0.json.gz")), false);
    assertEquals(128, sampled.worldSize());
    assertEquals(2, sampled.steps());
    RankShares shares = sampled.shares().get(0);
    assertEquals(0.287, shares.exposed() / shares.seconds(), 0.01);
    assertTrue(sampled.collectives().size() >= 4, "" + sampled.collectives());
  }
}

package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.oracle.CalibratedProfile;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Transformers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Why {@code plan} and {@code predict} differ for one layout, as docs/accuracy.md has it. */
class OneLayoutTest {
  private static final Path PAGE = Path.of("../docs/accuracy.md");
  private static final String MODEL = "llama3-70b";
  private static final String CLUSTER = "h100:8x8";
  private static final int BATCH = 1024;
  private static final int TENSOR = 8;
  private static final int DATA = 2;
  private static final int MICRO_BATCHES = BATCH / DATA;
  private static final int BLOCKS = 20; // of a stage
  private static final double SAME = 1e-9;

  @TempDir private Path folder;

  private static JsonNode predicted() {
    return Cli.run(
            "predict",
            MODEL,
            "--cluster=" + CLUSTER,
            "--tensor-parallel=" + TENSOR,
            "--sequence-parallel",
            "--pipeline-parallel=4",
            "--data-parallel=" + DATA,
            "--global-batch=" + BATCH,
            "--json")
        .ends(0)
        .json()
        .get("rows")
        .get(0);
  }

  /** Even stages: the embedding, 80 blocks and the head. */
  private JsonNode simulated(boolean overlapped) {
    int[][] layers = {{0, 20}, {21, 40}, {41, 60}, {61, 81}};
    String stages =
        IntStream.range(0, layers.length)
            .mapToObj(stage ->
                """
                {"layers": [%d, %d], "devices": [%s], "parallelism": "sequence:%d",
                 "in_flight": %d, "recompute": "none"}\
                """
                    .formatted(
                        layers[stage][0],
                        layers[stage][1],
                        devices(stage),
                        TENSOR,
                        layers.length - stage))
            .collect(Collectors.joining(", "));
    Path plan =
        Cli.file(
            folder,
            "plan.json",
            """
            {"format": "pipewright-plan", "version": 1, "cost_model": "pipewright",
             "model": "%s", "cluster": "%s", "global_batch": %d, "optimizer": "adam",
             "precision": "bf16", "memory_reserve": 0.06,
             "plan": {"schedule": "1f1b", "micro_batches": %d, "micro_batch": %d, "replicas": 1,
              "overlap_allreduce": %s, "zero": 1, "stages": [%s]}}\
            """
                .formatted(MODEL, CLUSTER, BATCH, MICRO_BATCHES, DATA, overlapped, stages));
    return Cli.run("simulate", plan.toString(), "--json").ends(0).json();
  }

  /** A machine for each of both replicas. */
  private static String devices(int stage) {
    return IntStream.range(0, DATA * TENSOR)
        .map(i -> (i < TENSOR ? 0 : 32 - TENSOR) + TENSOR * stage + i)
        .mapToObj(String::valueOf)
        .collect(Collectors.joining(", "));
  }

  /** Seconds of a stage's blocks in a step, without exchanges, as plans are priced. */
  private static double blocksOfPlans() {
    Cluster cluster = ClusterNames.resolve(CLUSTER);
    CalibratedProfile calibrated =
        CalibratedProfile.of(
                Transformers.find(MODEL).orElseThrow().shape(),
                cluster,
                new Training(Optimizer.ADAM, Precision.BF16))
            .orElseThrow();
    LayerGraph graph = calibrated.graph(NetworkNames.zooModel(MODEL).orElseThrow());
    LayerTimes block =
        calibrated
            .profile(graph, List.of(1))
            .orElseThrow()
            .divided()
            .orElseThrow()
            .times(TENSOR, true, 1, 1)
            .orElseThrow()
            .get(1);
    return MICRO_BATCHES * BLOCKS * (block.forward() + block.backward());
  }

  private static double phase(JsonNode row, String... names) {
    double sum = 0;
    for (String name : names) {
      sum += row.get("phases").get(name + "_s").asDouble();
    }
    return sum;
  }

  private static double passes(JsonNode plan, int stage) {
    JsonNode of = plan.at("/plan/stages/" + stage);
    return MICRO_BATCHES * (of.get("forward_s").asDouble() + of.get("backward_s").asDouble());
  }

  @Test
  void layersHaveTheSameTimesAndThePageHasTheParts() throws IOException {
    JsonNode row = predicted();
    JsonNode plan = simulated(true);
    double blocks = blocksOfPlans();
    assertEquals(blocks, phase(row, "products", "attention", "elementwise"), SAME * blocks);
    double step = plan.at("/objective/value").asDouble();
    String page = Files.readString(PAGE);
    row(page, "layers without exchanges", blocks, blocks);
    row(page, "exchanges within layers", phase(row, "tensor_parallel"), passes(plan, 1) - blocks);
    row(page, "embedding, head, loss", phase(row, "ends"), passes(plan, 3) - passes(plan, 1));
    row(
        page,
        "filling, sums of gradients, update",
        phase(row, "bubble", "transfers", "data_parallel", "optimizer"),
        step - passes(plan, 3));
    assertTrue(
        page.contains(String.format(Locale.ROOT, "**%.1f s**", row.get("iteration_s").asDouble())));
    assertTrue(page.contains(String.format(Locale.ROOT, "**%.1f s**", step)));
    assertTrue(page.contains(gibibytes(row.get("memory_bytes")) + ": states"));
    JsonNode memory = plan.at("/plan/stages/0/memory_bytes");
    assertTrue(page.contains(gibibytes(memory) + ": the same"));
    assertEquals(memory, simulated(false).at("/plan/stages/0/memory_bytes")); // summed in place
  }

  private static String gibibytes(JsonNode bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes.asDouble() / (1L << 30));
  }

  private static void row(String page, String part, double predicted, double planned) {
    String begin = String.format(Locale.ROOT, "\n| %s | %.1f s", part, predicted);
    int at = page.indexOf(begin);
    assertTrue(at >= 0, begin);
    String line = page.substring(at + 1, page.indexOf('\n', at + 1));
    assertTrue(line.contains(String.format(Locale.ROOT, "| %.1f s", planned)), line);
  }
}

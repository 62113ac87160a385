package dev.pipewright.app.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.app.cli.train.TrainArgument.Chosen;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.ZeroStage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A plan for two fast and two slow devices, of which some are left. */
class ReplanningTest {
  private static final String NETWORK = "mlp-8x1024";
  private static final int BATCH = 64;

  @TempDir Path folder;
  private Path cluster;
  private Path plan;

  @BeforeEach
  void write() throws Exception {
    cluster =
        Files.writeString(
            folder.resolve("mixed.yaml"),
            """
            format: pipewright-cluster
            version: 1
            name: mixed
            kinds:
              - {name: fast, memory_bytes: 16e9, fp32_flops: 30e12, mixed_flops: 30e12, memory_bytes_per_s: 1800e9}
              - {name: slow, memory_bytes: 8e9, fp32_flops: 10e12, mixed_flops: 10e12, memory_bytes_per_s: 600e9}
            levels:
              - name: machine
                point_to_point: {latency_s: 10e-6, bytes_per_s: 25e9}
                collective: {latency_s: 10e-6, bytes_per_s: 20e9}
                groups: 2
              - name: cluster
                point_to_point: {latency_s: 50e-6, bytes_per_s: 3e9}
                collective: {latency_s: 50e-6, bytes_per_s: 2.5e9}
                groups: 2
            devices:
              - {kind: fast, count: 2}
              - {kind: slow, count: 2}
            """);
    plan = write("4", "\"cluster\": \"%s\", ".formatted(cluster));
  }

  private Path write(String name, String key) throws Exception {
    return Files.writeString(
        folder.resolve(name + ".json"),
        """
        {"format": "pipewright-plan", "version": 1, "model": "%s", %s"global_batch": %d,
         "optimizer": "momentum", "precision": "fp32",
         "plan": {"schedule": "1f1b", "micro_batches": 4, "micro_batch": 16, "replicas": 1,
          "overlap_allreduce": false, "stages": [
           {"layers": [0, 2], "devices": [0], "in_flight": 4, "recompute": "none"},
           {"layers": [3, 5], "devices": [1], "in_flight": 3, "recompute": "none"},
           {"layers": [6, 7], "devices": [2], "in_flight": 2, "recompute": "none"},
           {"layers": [8, 9], "devices": [3], "in_flight": 1, "recompute": "none"}]}}
        """
            .formatted(NETWORK, key, BATCH));
  }

  private static Chosen chosen(Path file) {
    TrainArgument argument = new TrainArgument();
    argument.what = file.toString();
    return argument.chosen();
  }

  @Test
  void replicasOfTheOtherPlanShardWhatWasAskedFor() {
    TrainArgument argument = new TrainArgument();
    argument.what = plan.toString();
    argument.zero.level = 1;
    Chosen chosen = argument.chosen();
    assertEquals(ZeroStage.OPTIMIZER, chosen.assignment().sharding());
    Chosen other = Replanning.of(chosen, 4).on(List.of(0, 1));
    assertEquals(ZeroStage.OPTIMIZER, other.assignment().sharding());
    assertEquals(
        ZeroStage.NOTHING,
        Replanning.of(chosen(plan), 4).on(List.of(0, 1)).assignment().sharding());
  }

  /** The referee plans the same step for a cluster of only these devices. */
  private void assertPlannedFor(List<Integer> devices, Chosen found) {
    Cluster whole = ClusterYaml.read(cluster);
    Problem problem =
        Problem.of(NETWORK, whole.only(devices), BATCH)
            .withOptimizer("momentum")
            .withPrecision("fp32");
    Planned planned = Planners.plan(problem);
    assertEquals(planned.plan(), found.plan().orElseThrow().file().plan());
    assertEquals(BATCH, found.assignment().batch());
    assertEquals(planned.plan().devices(), found.assignment().size());
  }

  @Test
  void aRankOfSlowDevicesIsLeft() {
    Replanning all = Replanning.of(chosen(plan), 2);
    assertPlannedFor(List.of(2, 3), all.on(List.of(1)));
    assertPlannedFor(List.of(2, 3), all.only(List.of(1)).on(List.of(0)));
  }

  @Test
  void ranksOfBothKindsAreLeft() {
    Replanning all = Replanning.of(chosen(plan), 4);
    assertPlannedFor(List.of(1, 2, 3), all.on(List.of(3, 1, 2)));
    assertEquals(1, all.workersOf(0));
    assertEquals(2, Replanning.of(chosen(plan), 3).workersOf(0));
  }

  @Test
  void aPlanThatDoesNotSayItsClusterIsRefused() throws Exception {
    Chosen unknown = chosen(write("unknown", ""));
    assertEquals(
        "--replan: the plan does not say its cluster; give a file that `plan --out` has written",
        assertThrows(BadInputException.class, () -> Replanning.of(unknown, 2)).getMessage());
    TrainArgument network = new TrainArgument();
    network.what = NETWORK;
    network.batch = BATCH;
    assertEquals(
        "--replan: mlp-8x1024 is a network and no plan, so its cluster is unknown; give a file that"
            + " `plan --out` has written",
        assertThrows(BadInputException.class, () -> Replanning.of(network.chosen(), 2))
            .getMessage());
  }
}

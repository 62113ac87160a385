package dev.pipewright.formats.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.DapplePlanner;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The plans and scores that the DAPPLE authors' planner recorded. */
class DappleRepoOracleTest {
  private static final Path FOLDER =
      Path.of(String.valueOf(System.getProperty("reference.dir")), "dapple");

  /** One recorded run; nothing where the reference is absent. */
  record Recorded(@Nullable JsonNode run) {
    JsonNode get() {
      assumeTrue(run != null, "no reference runs in " + FOLDER);
      return java.util.Objects.requireNonNull(run);
    }

    double seconds() {
      return get().get("objective_latency_s").asDouble();
    }

    StageCosts costs() {
      Path file = FOLDER.resolve(get().get("input").asString());
      ModelFile model = GraphText.read(file, get().get("profile_batch").asInt());
      boolean nodesOfEight = get().at("/cluster/seps/0").asInt() == 8;
      Cluster cluster = Clusters.find(nodesOfEight ? "dapple-a" : "dapple-b").orElseThrow();
      var training = new Training(Optimizer.ADAM, Precision.FP32);
      return new StageCosts(
          new Workload(Chain.of(model.graph()), model.profile(), training, cluster));
    }

    /** A stage's end is exclusive there, but for the last. */
    PipelinePlan plan() {
      JsonNode stages = get().get("plan_stages_start_end_repl_gids");
      int microBatch = get().get("min_micro_batch").asInt();
      int copies = Math.max(1, get().path("rp").asInt(1));
      int microBatches = get().get("global_batch").asInt() / copies / microBatch;
      List<StagePlan> list = new ArrayList<>();
      for (JsonNode stage : stages) {
        List<Integer> devices = new ArrayList<>();
        stage.get(3).forEach(device -> devices.add(device.asInt()));
        boolean last = list.size() == stages.size() - 1;
        int end = stage.get(1).asInt();
        list.add(
            new StagePlan(stage.get(0).asInt(), last ? end : end - 1, devices, Recompute.NONE, 1));
      }
      return new PipelinePlan(PipelinePolicy.A, microBatches, microBatch, copies, false, list);
    }

    Request request() {
      return new Request(
          get().get("global_batch").asInt(),
          OptionalInt.of(get().get("min_micro_batch").asInt()),
          List.of(PipelinePolicy.A),
          Recomputation.NEVER,
          CostModel.DAPPLE_REPO);
    }

    @Override
    public String toString() {
      return run == null ? "no reference" : run.get("tag").asString();
    }
  }

  static Stream<Recorded> runs() {
    Path file = FOLDER.resolve("planner-results.json");
    if (!Files.exists(file)) {
      return Stream.of(new Recorded(null));
    }
    List<Recorded> runs = new ArrayList<>();
    JsonMapper.shared().readTree(file.toFile()).forEach(run -> runs.add(new Recorded(run)));
    return runs.stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("runs")
  void theirPlanScoresAsTheyRecorded(Recorded recorded) {
    double seconds = recorded.seconds();
    Oracle oracle = CostModel.DAPPLE_REPO.oracle(recorded.costs());
    assertEquals(seconds, oracle.assess(recorded.plan()).stepSeconds(), 1e-12 * seconds);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("runs")
  void ourPlanIsNoSlowerThanTheirs(Recorded recorded) {
    double theirs = recorded.seconds();
    StageCosts costs = recorded.costs();
    Oracle oracle = CostModel.DAPPLE_REPO.oracle(costs);
    Planning planning = DapplePlanner.plan(costs, recorded.request(), oracle);
    double ours = planning.best().orElseThrow().estimate().stepSeconds();
    assertTrue(ours <= theirs * (1 + 1e-12), () -> "ours " + ours + ", theirs " + theirs);
    PipelinePlan plan = planning.best().orElseThrow().plan();
    assertEquals(oracle.assess(plan).stepSeconds(), ours);
  }
}

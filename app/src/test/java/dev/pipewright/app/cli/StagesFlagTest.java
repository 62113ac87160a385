package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.catalog.PlannerCatalog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Pipelines of exactly so many stages: five equal layers of 3 ms on four devices. */
class StagesFlagTest {
  @TempDir private Path folder;

  private Cli plan(String planner, String... more) {
    StringBuilder graph = new StringBuilder();
    for (int layer = 1; layer <= 5; layer++) {
      graph.append(
          "node%d -- L%d -- forward_compute_time=1, backward_compute_time=2, activation_size=1000000, parameter_size=4000000\n"
              .formatted(layer, layer));
    }
    for (int layer = 1; layer < 5; layer++) {
      graph.append("\tnode%d -- node%d\n".formatted(layer, layer + 1));
    }
    List<String> args = new ArrayList<>(List.of("--planner", planner, "--profile-batch", "1"));
    args.addAll(List.of("--global-batch", "8"));
    args.addAll(List.of(more));
    Path model = Cli.file(folder, "model.txt", graph.toString());
    return Cli.plan(model, "dgx-v100:1x4", args.toArray(String[]::new));
  }

  static Stream<String> planners() {
    return PlannerCatalog.names()
        .filter(planner -> !List.of("data", "placement").contains(planner));
  }

  @ParameterizedTest
  @MethodSource("planners")
  void everyPlannerOfPipelinesPlansExactlySoManyStages(String planner) {
    for (int stages = 1; stages <= 4; stages++) {
      JsonNode plan = plan(planner, "--stages", "" + stages, "--json").ends(0).json().get("plan");
      assertEquals(stages, plan.get("stages").size(), () -> planner + ": " + plan);
    }
  }

  @Test
  void fiveEqualLayersOnFourDevicesAreTwoOneOneAndOne() {
    JsonNode answer =
        plan("auto", "--stages", "4", "--micro-batch", "1", "--schedule", "1f1b", "--json")
            .ends(0)
            .json();
    assertEquals("[0,1]", answer.at("/plan/stages/0/layers").toString());
    assertEquals(4, answer.at("/plan/stages").size());
    // the first stage computes 8 · 6 ms and waits 3 ms and six transfers of 50 µs for the first
    // gradient
    assertEquals(0.0513, answer.at("/simulated/step_s").asDouble(), 1e-9);
  }

  @ParameterizedTest
  @CsvSource({"straight,", "straight,1", "gpipe,", "gpipe,1", "gpipe,2"})
  void aPipelineAloneDividesNoSamples(String planner, String microBatch) {
    String[] more =
        microBatch == null
            ? new String[] {"--json"}
            : new String[] {"--micro-batch", microBatch, "--json"};
    JsonNode plan = plan(planner, more).ends(0).json().get("plan");
    assertTrue(plan.get("stages").size() > 1, plan::toString);
    assertEquals(1, plan.get("replicas").asInt());
    plan.get("stages").forEach(stage -> assertEquals(1, stage.get("devices").size()));
    assertEquals(planner.equals("gpipe"), plan.get("schedule").asString().equals("gpipe"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "auto | 6 | 6 is more than",
        "auto | 5 | 5 is more than the 4 devices of dgx-v100:1x4; give a whole number in 1..4",
        "mcap | 5 | 5 is more than the 4 devices",
        "pipedream | 5 | 5 is more than the 4 devices",
        "pipedream-2bw | 6 | can be cut into up to 5; give a whole number in 1..4",
        "madpipe | 0 | 0 is no number of stages; give a whole number >= 1",
        "data | 2 | data parallelism has one stage, not 2",
        "placement | 2 | the planner placement does not support it"
      })
  void whatCannotBeIsOneSentence(String planner, int stages, String words) {
    plan(planner, "--stages", "" + stages).refusal(2, "--stages: ", words);
  }

  @Test
  void dataParallelismHasOneStage() {
    JsonNode plan = plan("data", "--stages", "1", "--json").ends(0).json().get("plan");
    assertEquals(1, plan.get("stages").size());
  }

  @Test
  void aGivenPlanHasTheStagesThatItHas() {
    plan("auto", "--stages", "2", "--evaluate", "any.json").refusal(2, "--evaluate scores a plan");
  }

  @Test
  void pipeDreamsWayOfNamingAClusterHoldsToo() {
    Path model = Cli.file(folder, "graph.txt", Cli.smallGraph());
    String[] args = {
      "plan",
      model.toString(),
      "--planner",
      "pipedream",
      "--levels",
      "2,2",
      "--bandwidths",
      "25e9,1e9",
      "--json",
      "--stages"
    };
    for (int stages = 1; stages <= 3; stages++) {
      JsonNode plan = Cli.run(Cli.with(args, "" + stages)).ends(0).json().get("plan");
      assertEquals(stages, plan.get("stages").size());
    }
    Cli.run(Cli.with(args, "5")).refusal(2, "5 is more than");
  }

  @ParameterizedTest
  @ValueSource(strings = {"throughput", "memory"})
  void objectivesKeepTheNumberOfStages(String objective) {
    JsonNode plan =
        plan("auto", "--objective", objective, "--stages", "3", "--json").ends(0).json();
    assertEquals(3, plan.at("/plan/stages").size());
  }
}

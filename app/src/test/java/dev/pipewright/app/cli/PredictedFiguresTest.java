package dev.pipewright.app.cli;

import static dev.pipewright.app.cli.SeededPlans.SAME;
import static dev.pipewright.app.cli.SeededPlans.ZOO;
import static dev.pipewright.app.cli.SeededPlans.model;
import static dev.pipewright.app.cli.SeededPlans.number;
import static dev.pipewright.app.cli.SeededPlans.same;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What {@code predict} says of a strategy is what other commands say of its plan. */
class PredictedFiguresTest {
  @TempDir private Path folder;

  /** The command's answer for a model of a seed and so many devices of a cluster, all of them. */
  private Cli forModel(int seed, String command, String cluster, String... more) {
    List<String> args = new ArrayList<>(List.of(command));
    args.add(seed == 0 ? ZOO : model(folder, seed).toString());
    args.addAll(List.of("--cluster", cluster, "--global-batch", "16"));
    args.addAll(seed == 0 ? List.of() : List.of("--profile-batch", "2"));
    args.addAll(List.of(more));
    return Cli.run(args.toArray(String[]::new)).ends(0);
  }

  private JsonNode predicted(int seed, String cluster, String strategy, String said) {
    int devices = Integer.parseInt(cluster.replaceAll(".*:(\\d+)x.*", "$1"));
    devices *= Integer.parseInt(cluster.replaceAll(".*x(\\d+)$", "$1"));
    String[] asked = {"--strategies", strategy, "--devices", "" + devices};
    String text = forModel(seed, "predict", cluster, asked).out().replaceAll("\\s+", " ");
    assertTrue(text.contains(said), text);
    return forModel(seed, "predict", cluster, Cli.with(asked, "--json")).json().at("/rows/0");
  }

  /** The same strategy on the same devices: what a plan adds is said in the answer. */
  @ParameterizedTest(name = "seed {0} on {1}")
  @CsvSource({
    "0, dgx-v100:1x4", "1, dgx-v100:1x4", "2, dgx-v100:1x4", "3, dgx-v100:1x4",
    "0, dgx-v100:2x4", "1, dgx-v100:2x4", "2, dgx-v100:2x4", "3, dgx-v100:2x4"
  })
  void predictionsAreThoseOfPlansButForWhatTheySay(int seed, String cluster) {
    String[] asked = {"--planner", "data", "--micro-batch", "16", "--json"};
    JsonNode plan = forModel(seed, "plan", cluster, asked).json();
    String said = "while the backward pass runs, and their iteration is the plan's estimate";
    JsonNode row = predicted(seed, cluster, "data", said);
    double iteration = number(row, "/iteration_s");
    int seen = 0;
    for (JsonNode candidate : plan.get("candidates")) {
      boolean sameDevices =
          candidate.get("summary").asString().endsWith("×" + row.get("devices").asInt());
      if (sameDevices && candidate.get("kind").asString().equals("data parallel, overlapped")) {
        double estimate = number(candidate, "/estimate_s");
        assertEquals(estimate, iteration, SAME * estimate);
        seen++;
      }
    }
    assertEquals(1, seen, plan::toString);
    assertEquals(
        number(plan, "/plan/stages/0/memory_bytes"), number(row, "/memory_bytes"), 1, cluster);
    assertTrue(iteration >= number(plan, "/simulated/step_s") * (1 - SAME), row::toString);
  }

  /** What strategies divide or shard is a plan, which other commands price alike. */
  @ParameterizedTest
  @CsvSource({
    "data",
    "filter",
    "channel",
    "spatial",
    "data+filter",
    "data+channel",
    "data+spatial",
    "zero1",
    "zero2",
    "zero3"
  })
  void thePlanOfAStrategyHasItsFigures(String strategy) {
    for (String cluster : List.of("dgx-v100:1x4", "dgx-v100:2x2", "abci:2x2")) {
      String[] alexnet = {"alexnet", "--cluster", cluster, "--global-batch", "18"};
      JsonNode row =
          Cli.run(joined("predict", alexnet, "--strategies", strategy, "--devices", "4", "--json"))
              .json()
              .at("/rows/0");
      String text =
          "{\"model\": \"alexnet\", \"cluster\": \"%s\", \"global_batch\": 18, \"plan\": %s}"
              .formatted(cluster, row.get("plan"));
      String file = Cli.file(folder, "strategy.json", text).toString();
      double seconds = number(row, "/iteration_s");
      for (String[] asked :
          List.of(
              joined("plan", alexnet, "--evaluate", file, "--json"),
              new String[] {"simulate", file, "--json"})) {
        JsonNode answer = Cli.run(asked).json();
        assertEquals(seconds, number(answer, "/objective/value"), SAME * seconds, cluster);
        long bytes = answer.at("/plan/stages/0/memory_bytes").asLong();
        assertEquals((double) bytes, number(row, "/memory_bytes"), 1, cluster);
      }
      Cli.run("check", file).ends(0);
    }
  }

  private static String[] joined(String command, String[] model, String... more) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of(model));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /** Six layers in six stages are one plan: its estimate and its memory are the prediction's. */
  @ParameterizedTest(name = "seed {0} on {1}")
  @CsvSource({
    "1, dgx-v100:1x6", "2, dgx-v100:1x6", "3, dgx-v100:1x6",
    "1, dgx-v100:3x2", "2, dgx-v100:3x2", "3, dgx-v100:3x2"
  })
  void aPredictedPipelineIsAPlanWithItsEstimate(int seed, String cluster) {
    String[] asked = {
      "--planner",
      "straight",
      "--stages",
      "6",
      "--micro-batch",
      "1",
      "--schedule",
      "1f1b",
      "--recompute",
      "none"
    };
    String out = folder.resolve("out").toString();
    String[] written = Cli.with(Cli.with(Cli.with(asked, "--json"), "--out"), out);
    JsonNode plan = forModel(seed, "plan", cluster, written).json();
    String said = "their iteration is the plan's estimate; `plan` simulates it, too";
    JsonNode row = predicted(seed, cluster, "pipeline", said);
    assertEquals("6 stages, 16 segments", row.get("layout").asString());
    double estimate = number(plan, "/objective/value");
    assertEquals(estimate, number(row, "/iteration_s"), SAME * estimate);
    long most = 0;
    for (JsonNode stage : plan.at("/plan/stages")) {
      most = Math.max(most, stage.get("memory_bytes").asLong());
    }
    assertEquals((double) most, number(row, "/memory_bytes"), 1);
    String file = folder.resolve("out/plan.json").toString();
    Cli.run("check", file).ends(0);
    same(plan, Cli.run("simulate", file, "--json").json(), "/objective/value");
    same(plan, Cli.run("simulate", file, "--json").json(), "/simulated/step_s");
  }
}

package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.Objective;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * The figures of one plan: those of {@code plan}, of its text and pages, and of the commands that
 * read the plan back, agree, or the answer says why they do not.
 */
class FiguresAgreeTest {
  private static final List<String> WITHOUT_FLUSHES =
      List.of("pipedream", "pipedream-2bw", "madpipe");
  private static final double SAME = 1e-9;
  private static final String ZOO = "gpt:layers=4,hidden=128,heads=4,sequence=64,vocabulary=500";

  @TempDir private Path folder;

  /** A chain of a seed, or a network of the zoo where it is 0. */
  static Stream<Arguments> plannersAndSeeds() {
    return PlannerCatalog.names()
        .filter(planner -> !planner.equals("placement"))
        .flatMap(
            planner -> IntStream.rangeClosed(0, 3).mapToObj(seed -> Arguments.of(planner, seed)));
  }

  /** A chain of six layers, of which the first outputs and the last parameters are large. */
  private Path model(int seed) {
    var random = new SplittableRandom(seed);
    StringBuilder graph = new StringBuilder();
    for (int layer = 1; layer <= 6; layer++) {
      graph.append(
          "node%d -- L%d -- forward_compute_time=%d, backward_compute_time=%d, activation_size=%d, parameter_size=%d\n"
              .formatted(
                  layer,
                  layer,
                  random.nextInt(1, 9),
                  random.nextInt(2, 17),
                  random.nextInt(1, 9) * 8_000_000 / layer,
                  random.nextInt(1, 9) * 1_000_000 * layer));
    }
    for (int layer = 1; layer < 6; layer++) {
      graph.append("\tnode%d -- node%d\n".formatted(layer, layer + 1));
    }
    return Cli.file(folder, "model.txt", graph.toString());
  }

  private Cli plan(String planner, int seed, String... more) {
    List<String> args = new ArrayList<>(List.of("--planner", planner, "--global-batch", "16"));
    if (seed > 0) {
      args.addAll(List.of("--profile-batch", "2"));
    }
    args.addAll(List.of(more));
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    return Cli.plan(seed == 0 ? ZOO : model(seed), cluster, args.toArray(String[]::new));
  }

  private static double number(JsonNode node, String path) {
    assertTrue(node.at(path).isNumber(), () -> "no " + path + " in " + node);
    return node.at(path).asDouble();
  }

  private static void same(JsonNode a, JsonNode b, String path) {
    double value = number(a, path);
    assertEquals(value, number(b, path), SAME * value, path);
  }

  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("plannersAndSeeds")
  void planAndTheCommandsThatReadItBackSayTheSame(String planner, int seed) {
    Path out = folder.resolve("out");
    JsonNode answer = plan(planner, seed, "--json", "--out", out.toString()).json();
    String file = out.resolve("plan.json").toString();
    JsonNode simulated = Cli.run("simulate", file, "--json").json();
    JsonNode check = Cli.run("check", file, "--json").json();
    assertTrue(check.get("valid").asBoolean(), check::toString);
    if (WITHOUT_FLUSHES.contains(planner)) {
      boolean pattern = planner.equals("madpipe"); // its period is what it takes
      double planned = number(answer, pattern ? "/objective/value" : "/simulated/minibatch_s");
      assertEquals(planned, number(simulated, "/objective/value"), SAME * planned);
      assertEquals(
          number(answer, "/objective/value"), number(simulated, "/expected_s"), SAME * planned);
      differenceIsExplained(planner, seed, answer);
    } else {
      same(answer, simulated, "/simulated/step_s");
      assertEquals(answer.at("/simulated/peak_bytes"), simulated.at("/simulated/peak_bytes"));
    }
    Objective objective = PlannerCatalog.find(planner).orElseThrow().objective();
    if (objective == Objective.STEP_TIME) {
      synchronous(planner, seed, answer, simulated, file);
    }
    if (objective == Objective.PEAK_MEMORY) {
      long most = 0;
      for (JsonNode bytes : answer.at("/simulated/peak_bytes")) {
        most = Math.max(most, bytes.asLong());
      }
      assertEquals(number(answer, "/objective/value"), (double) most, 1);
      String text = plan(planner, seed).out();
      String step = Units.seconds(number(answer, "/simulated/step_s"));
      String estimate = Units.seconds(number(answer, "/candidates/0/estimate_s"));
      String other = step.equals(estimate) ? "the estimate agrees" : "estimate " + estimate;
      assertTrue(text.contains("  " + step + "  "), text);
      assertTrue(text.contains("simulated; " + other), text);
    }
  }

  /** All commands that know of recomputation take the last micro-batch alike. */
  @ParameterizedTest
  @ValueSource(strings = {"1f1b", "1f1b-b", "gpipe"})
  void recomputingAllButTheLastMicroBatchTakesAsLongInEveryCommand(String schedule) {
    Path out = folder.resolve("out");
    String[] flags = {"--micro-batch", "2", "--stages", "2", "--schedule", schedule, "--recompute"};
    String[] last = Cli.with(flags, "except-last");
    JsonNode answer = plan("dapple", 2, Cli.with(last, "--json")).ends(0).json();
    JsonNode all = plan("dapple", 2, Cli.with(Cli.with(flags, "full"), "--json")).ends(0).json();
    assertTrue(number(answer, "/simulated/step_s") < number(all, "/simulated/step_s"));
    for (JsonNode stage : answer.at("/plan/stages")) {
      assertEquals("except-last", stage.get("recompute").asString());
    }
    String[] written = Cli.with(Cli.with(last, "--out"), out.toString());
    String text = plan("dapple", 2, written).ends(0).out();
    assertTrue(text.contains("except-last"), text);
    String file = out.resolve("plan.json").toString();
    JsonNode simulated = Cli.run("simulate", file, "--json").ends(0).json();
    same(answer, simulated, "/simulated/step_s");
    same(answer, simulated, "/objective/value");
    assertEquals(answer.at("/simulated/peak_bytes"), simulated.at("/simulated/peak_bytes"));
    Cli.run("check", file).ends(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"madpipe", "capture"})
  void plannersWithoutALastMicroBatchToKeepSaySo(String planner) {
    plan(planner, 2, "--recompute", "except-last").refusal(2, "--recompute: except-last", "full");
  }

  private void synchronous(
      String planner, int seed, JsonNode answer, JsonNode simulated, String file) {
    same(answer, simulated, "/objective/value");
    same(answer, simulated, "/speedup");
    JsonNode best = answer.at("/candidates/0");
    assertEquals(number(answer, "/objective/value"), number(best, "/estimate_s"), SAME);
    assertEquals(number(answer, "/simulated/step_s"), number(best, "/simulated_s"), SAME);
    JsonNode given = plan("auto", seed, "--evaluate", file, "--json").json();
    same(answer, given, "/objective/value");
    same(answer, given, "/simulated/step_s");
    same(answer, given, "/speedup");
    String step = Units.seconds(number(answer, "/simulated/step_s"));
    assertTrue(plan(planner, seed).out().contains(step + "  simulated"), step);
    String page = Cli.text(Path.of(file).resolveSibling("report.html"));
    assertTrue(page.contains(step), "no " + step + " in the page");
    String speedUp = Units.significant(number(answer, "/speedup")) + "×";
    int at = page.indexOf("speed-up");
    assertTrue(page.contains(speedUp), () -> speedUp + " is not " + page.substring(at, at + 60));
    double most = 0;
    for (JsonNode stage : answer.at("/plan/stages")) {
      most = Math.max(most, stage.get("memory_bytes").asDouble());
    }
    assertTrue(page.contains(Units.binary(most, "B")), "no peak in the page");
  }

  /** A stage's memory adds up from its categories, and is what a device holds in the simulation. */
  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("plannersAndSeeds")
  void memoryByCategoryAddsUpInEveryPlannersAnswer(String planner, int seed) {
    JsonNode answer = plan(planner, seed, "--json").json();
    boolean simulated = answer.at("/simulated/peak_bytes").isArray();
    boolean alone = !planner.equals("madpipe"); // whose devices may have several stages
    for (JsonNode stage : answer.at("/plan/stages")) {
      long sum = 0;
      for (JsonNode part : stage.get("memory")) {
        sum += part.asLong();
      }
      assertEquals(stage.get("memory_bytes").asLong(), sum, stage::toString);
      long held = answer.at("/simulated/peak_bytes/" + stage.at("/devices/0").asInt()).asLong();
      assertTrue(!simulated || !alone || Math.abs(held - sum) <= 1, stage + " holds " + held);
    }
  }

  /** The command's answer for a model of a seed and so many devices of a cluster, all of them. */
  private Cli forModel(int seed, String command, String cluster, String... more) {
    List<String> args = new ArrayList<>(List.of(command));
    args.add(seed == 0 ? ZOO : model(seed).toString());
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

  @Test
  void aPatternsPeriodCountsTheUpdateOfItsWeights() {
    String[] args = {"--global-batch", "16", "--json", "--optimizer"};
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    String[] planner = {"--planner", "madpipe"};
    String[] with = Stream.of(planner, args).flatMap(Stream::of).toArray(String[]::new);
    JsonNode sgd = Cli.plan(ZOO, cluster, Cli.with(with, "sgd")).json();
    JsonNode adam = Cli.plan(ZOO, cluster, Cli.with(with, "adam")).json();
    assertTrue(number(adam, "/objective/value") > number(sgd, "/objective/value"));
  }

  /** Two layers that each need so much while they compute one sample or four. */
  private static String profile(long workingBytes) {
    return """
    {"format": "pipewright-profile", "version": 1, "model": "two", "precision": "fp32",
     "provenance": {"source": "by hand", "device": "tiny", "date": "", "measured": true},
     "layers": [{"name": "a", LAYER}, {"name": "b", LAYER}],
     "edges": [["a", "b"]],
     "batches": [
       {"samples": 1, "forward_s": [1e-3, 1e-3], "backward_s": [2e-3, 2e-3],
        "input_gradient_s": [1e-3, 1e-3], "weight_gradient_s": [1e-3, 1e-3],
        "update_s": [1e-4, 1e-4], "working_bytes": [W, W],
        "split_kept_bytes": [2000, 2000], "deferred_bytes": [0, 0]}]}
    """
        .replace(
            "LAYER",
            """
            "operator": {"kind": "linear", "in": 1000, "out": 1000, "bias": false},
            "parameters": 1000000, "output_elements": 250, "kept_elements": 500,
            "parameter_bytes": 4000000, "output_bytes": 1000, "kept_bytes": 2000
            """)
        .replace("W", Long.toString(workingBytes));
  }

  @Test
  void whatLayersNeedWhileTheyComputeCountsInEveryPlannersMemory() {
    for (String planner : PlannerCatalog.names().toList()) {
      if (planner.equals("placement")) {
        continue; // operators have none
      }
      Path plain = Cli.file(folder, "plain.json", profile(0));
      Path hungry = Cli.file(folder, "hungry.json", profile(50_000_000));
      String[] args = {"--planner", planner, "--global-batch", "4", "--stages", "1", "--json"};
      Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
      long before =
          Cli.plan(plain, cluster, args).json().at("/plan/stages/0/memory_bytes").asLong();
      JsonNode stage = Cli.plan(hungry, cluster, args).json().at("/plan/stages/0");
      long after = stage.at("/memory_bytes").asLong();
      String divided = stage.at("/parallelism").asString("none:1"); // filters and what they need
      int degree = Integer.parseInt(divided.substring(divided.indexOf(':') + 1));
      assertTrue(after >= before + 50_000_000 / degree, planner + ": " + before + ", " + after);
    }
  }

  /**
   * An objective that the simulation does not confirm is shown with the simulation and a reason.
   */
  private void differenceIsExplained(String planner, int seed, JsonNode answer) {
    if (planner.equals("madpipe")) {
      return; // its period is the pattern's
    }
    double objective = number(answer, "/objective/value");
    double simulated = number(answer, "/simulated/minibatch_s");
    String difference = answer.at("/simulated/difference").asString();
    boolean apart = Math.abs(simulated / objective - 1) > 1e-3;
    assertEquals(apart, !difference.equals("none"), difference);
    String text = plan(planner, seed).out().replaceAll("\\s+", " ");
    assertTrue(text.contains(Units.seconds(simulated) + " simulated, in the steady state"), text);
    assertTrue(text.contains("objective " + Units.seconds(objective) + ", which"), text);
    double idle = number(answer, "/simulated/steady_idle_share");
    assertEquals(idle, number(answer, "/simulated/idle_share"));
    assertTrue(text.contains("idle " + Units.percent(idle) + " of the devices' time, once"), text);
    assertTrue(!apart || text.contains(difference), text);
  }

  @Test
  void whatRecomputationAddsToPipeDreamsObjectiveIsSaid() {
    String[] tight = {"--memory", "600MB", "--json"};
    Cli answer = plan("pipedream", 1, tight);
    assertTrue(answer.json().at("/plan/stages").toString().contains("stage-input"), answer.out());
    String difference = answer.json().at("/simulated/difference").asString();
    assertTrue(difference.matches(".* longer: stages that recompute, .* add .*"), difference);
  }

  @Test
  void theFastestForThroughputTakesWhatItsOwnAnswerSays() {
    Cli answer = plan("auto", 1, "--objective", "throughput", "--json");
    String seconds = Units.seconds(number(answer.json(), "/simulated/minibatch_s"));
    assertTrue(
        answer.err().contains("simulated with its update: pipedream-2bw " + seconds), answer.err());
  }

  @Test
  void oneDeviceIsAlwaysAmongTheAlternativesAndPaysForItsUpdate() {
    for (String planner : List.of("auto", "dapple", "exact", "data", "straight", "gpipe")) {
      Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
      String small = "gpt:layers=4,hidden=256,heads=4,sequence=128,vocabulary=1000";
      String[] args = {"--planner", planner, "--global-batch", "16", "--json"};
      JsonNode answer = Cli.plan(small, cluster, args).ends(0).json();
      JsonNode alone = alone(answer);
      assertTrue(number(alone, "/estimate_s") >= number(answer, "/simulated/step_s"), planner);
      double step = number(answer, "/speedup") * number(answer, "/simulated/step_s");
      assertEquals(number(alone, "/estimate_s"), step, 1e-9);
      Cli only = Cli.plan(small, cluster, Cli.with(Cli.with(args, "--stages"), "1"));
      assertTrue(number(only.json(), "/plan/stages/0/update_s") > 0, only.out());
    }
  }

  private static JsonNode alone(JsonNode answer) {
    for (JsonNode candidate : answer.get("candidates")) {
      if (candidate.get("kind").asString().equals("one device")) {
        return candidate;
      }
    }
    throw new AssertionError("no one device in " + answer.get("candidates"));
  }

  /** Links so slow that whatever is divided takes longer. */
  @Test
  void aPlanThatIsSlowerThanOneDeviceIsNeverRecommended() throws IOException {
    Path slow = folder.resolve("slow.yaml");
    Files.writeString(
        slow, Cli.cluster().replaceAll(", bytes_per_s: \\d+e\\d+}", ", bytes_per_s: 1e6}"));
    String[] args = {"--profile-batch", "2", "--global-batch", "4"};
    for (String planner : List.of("auto", "exact", "data", "straight", "gpipe")) {
      String[] more = Cli.with(Cli.with(args, "--planner"), planner);
      Cli json = Cli.plan(model(2), slow, Cli.with(more, "--json")).ends(0);
      assertEquals(1, json.json().at("/plan/stages/0/devices").size(), planner);
      assertEquals(1, json.json().at("/plan/stages").size(), planner);
      assertTrue(json.err().contains("one device is the fastest: "), json.err());
    }
    String[] forced = {"--profile-batch", "2", "--global-batch", "4", "--stages", "2"};
    Cli asked = Cli.plan(model(2), slow, forced).ends(0);
    assertTrue(asked.err().contains("one device alone takes "), asked.err());
    String[] plain = {"--profile-batch", "2", "--global-batch", "4", "--planner", "torchgpipe"};
    Cli rule = Cli.plan(model(2), slow, plain).ends(0);
    assertTrue(rule.err().contains("one device alone takes "), rule.err());
    String[] asyncPipeline = {
      "--profile-batch", "2", "--global-batch", "4", "--objective", "throughput"
    };
    Cli fastest = Cli.plan(model(2), slow, Cli.with(asyncPipeline, "--json")).ends(0);
    assertEquals(1, fastest.json().at("/plan/stages").size(), fastest.out());
    assertEquals(1, fastest.json().at("/plan/stages/0/devices").size(), fastest.out());
    assertTrue(fastest.err().contains("one device within its memory "), fastest.err());
  }
}

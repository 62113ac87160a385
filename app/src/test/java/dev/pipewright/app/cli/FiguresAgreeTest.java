package dev.pipewright.app.cli;

import static dev.pipewright.app.cli.SeededPlans.SAME;
import static dev.pipewright.app.cli.SeededPlans.ZOO;
import static dev.pipewright.app.cli.SeededPlans.number;
import static dev.pipewright.app.cli.SeededPlans.plan;
import static dev.pipewright.app.cli.SeededPlans.same;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.Objective;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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

  @TempDir private Path folder;

  /** A chain of a seed, or a network of the zoo where it is 0. */
  static Stream<Arguments> plannersAndSeeds() {
    return PlannerCatalog.names()
        .filter(planner -> !planner.equals("placement"))
        .flatMap(
            planner -> IntStream.rangeClosed(0, 3).mapToObj(seed -> Arguments.of(planner, seed)));
  }

  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("plannersAndSeeds")
  void planAndTheCommandsThatReadItBackSayTheSame(String planner, int seed) {
    Path out = folder.resolve("out");
    JsonNode answer = plan(folder, planner, seed, "--json", "--out", out.toString()).json();
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
      String text = plan(folder, planner, seed).out();
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
    JsonNode answer = plan(folder, "dapple", 2, Cli.with(last, "--json")).ends(0).json();
    JsonNode all =
        plan(folder, "dapple", 2, Cli.with(Cli.with(flags, "full"), "--json")).ends(0).json();
    assertTrue(number(answer, "/simulated/step_s") < number(all, "/simulated/step_s"));
    for (JsonNode stage : answer.at("/plan/stages")) {
      assertEquals("except-last", stage.get("recompute").asString());
    }
    String[] written = Cli.with(Cli.with(last, "--out"), out.toString());
    String text = plan(folder, "dapple", 2, written).ends(0).out();
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
    plan(folder, planner, 2, "--recompute", "except-last")
        .refusal(2, "--recompute: except-last", "full");
  }

  private void synchronous(
      String planner, int seed, JsonNode answer, JsonNode simulated, String file) {
    same(answer, simulated, "/objective/value");
    same(answer, simulated, "/speedup");
    JsonNode best = answer.at("/candidates/0");
    assertEquals(number(answer, "/objective/value"), number(best, "/estimate_s"), SAME);
    assertEquals(number(answer, "/simulated/step_s"), number(best, "/simulated_s"), SAME);
    JsonNode given = plan(folder, "auto", seed, "--evaluate", file, "--json").json();
    same(answer, given, "/objective/value");
    same(answer, given, "/simulated/step_s");
    same(answer, given, "/speedup");
    String step = Units.seconds(number(answer, "/simulated/step_s"));
    assertTrue(plan(folder, planner, seed).out().contains(step + "  simulated"), step);
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
    JsonNode answer = plan(folder, planner, seed, "--json").json();
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
    String text = plan(folder, planner, seed).out().replaceAll("\\s+", " ");
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
    Cli answer = plan(folder, "pipedream", 1, tight);
    assertTrue(answer.json().at("/plan/stages").toString().contains("stage-input"), answer.out());
    String difference = answer.json().at("/simulated/difference").asString();
    assertTrue(difference.matches(".* longer: stages that recompute, .* add .*"), difference);
  }

  @Test
  void theFastestForThroughputTakesWhatItsOwnAnswerSays() {
    Cli answer = plan(folder, "auto", 1, "--objective", "throughput", "--json");
    String seconds = Units.seconds(number(answer.json(), "/simulated/minibatch_s"));
    assertTrue(
        answer.err().contains("simulated with its update: pipedream-2bw " + seconds), answer.err());
  }
}

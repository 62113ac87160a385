package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

  @TempDir private Path folder;

  static Stream<Arguments> plannersAndSeeds() {
    return PlannerNames.ALL.stream()
        .filter(planner -> !planner.equals("placement"))
        .flatMap(
            planner -> IntStream.rangeClosed(1, 3).mapToObj(seed -> Arguments.of(planner, seed)));
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
    List<String> args = new ArrayList<>(List.of("--planner", planner, "--profile-batch", "2"));
    args.addAll(List.of("--global-batch", "16"));
    args.addAll(List.of(more));
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    return Cli.plan(model(seed), cluster, args.toArray(String[]::new));
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
    if (PlannerNames.isSynchronous(planner)) {
      synchronous(planner, seed, answer, simulated, file);
    }
    if (MemoryAnswer.PLANNERS.contains(planner)) {
      long most = 0;
      for (JsonNode bytes : answer.at("/simulated/peak_bytes")) {
        most = Math.max(most, bytes.asLong());
      }
      assertEquals(number(answer, "/objective/value"), (double) most, 1);
      String text = plan(planner, seed).out();
      String step = Units.seconds(number(answer, "/simulated/step_s"));
      String estimate = Units.seconds(number(answer, "/candidates/0/estimate_s"));
      String other = step.equals(estimate) ? "the estimate agrees" : "estimate " + estimate;
      assertTrue(text.contains(step + " simulated; " + other), text);
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
    String[] flow = {"--profile-batch", "2", "--global-batch", "4", "--objective", "throughput"};
    Cli fastest = Cli.plan(model(2), slow, Cli.with(flow, "--json")).ends(0);
    assertEquals(1, fastest.json().at("/plan/stages").size(), fastest.out());
    assertEquals(1, fastest.json().at("/plan/stages/0/devices").size(), fastest.out());
    assertTrue(fastest.err().contains("one device within its memory "), fastest.err());
  }
}

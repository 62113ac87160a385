package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class SimulateCommandTest {
  @TempDir private Path folder;
  private Path plan = Path.of("");

  @BeforeEach
  void makeAPlan() {
    Path model = Cli.file(folder, "model.txt", Cli.smallGraph());
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    Path out = folder.resolve("out");
    String given = Cli.file(folder, "given.json", Cli.plan()).toString();
    Cli.plan(
            model,
            cluster,
            "--global-batch",
            "16",
            "--profile-batch",
            "2",
            "--evaluate",
            given,
            "--out",
            out.toString())
        .ends(0);
    plan = out.resolve("plan.json");
  }

  private Cli simulate(String... more) {
    List<String> args = new ArrayList<>(List.of("simulate", plan.toString()));
    args.addAll(Arrays.asList(more));
    return Cli.run(args.toArray(new String[0]));
  }

  private JsonNode simulated(String... more) {
    List<String> args = new ArrayList<>(Arrays.asList(more));
    args.add("--json");
    return simulate(args.toArray(new String[0])).ends(0).json().get("simulated");
  }

  private double step(String... more) {
    return simulated(more).get("step_s").asDouble();
  }

  @Test
  void bothIdleSharesAreThere() {
    JsonNode step = simulated();
    double idle = step.get("idle_share").asDouble();
    assertTrue(idle > 0);
    assertEquals(
        idle, step.get("stage_span_idle_share").asDouble(), 1e-9); // the first is never off
    assertTrue(simulate().ends(0).out().contains("of the longest span"));
  }

  /** That of `plan`, which searches, may be higher. */
  @Test
  void theLowerBoundIsOneWithoutASearch() {
    assertTrue(simulate().ends(0).out().contains("without a search: "));
    String planned =
        Cli.run("plan", "vgg-16", "--cluster=dapple-a:1x2", "--global-batch=8").ends(0).out();
    assertTrue(planned.contains("lower bound") && !planned.contains("without a search"), planned);
  }

  @Test
  void memoryIsSplitByCategoryAndAddsUp() {
    JsonNode step = simulated();
    for (JsonNode stage : step.get("memory")) {
      long sum = 0;
      for (String part :
          List.of(
              "parameters",
              "stashed_parameters",
              "gradients",
              "optimizer",
              "activations",
              "buffers")) {
        sum += stage.get(part + "_bytes").asLong();
      }
      assertTrue(Math.abs(stage.get("peak_bytes").asLong() - sum) <= 2);
      int device = stage.get("stage").asInt(); // one device each
      assertEquals(step.at("/peak_bytes/" + device), stage.get("peak_bytes"));
      assertTrue(stage.get("at_s").asDouble() < step.get("step_s").asDouble());
    }
    assertEquals(2, step.get("memory").size());
    assertTrue(simulate().ends(0).out().contains("memory of each device when it is fullest"));
  }

  @Test
  void aPlanWhoseBatchDoesNotAddUpIsRefused() {
    String text = Cli.text(plan).replace("\"micro_batches\": 8", "\"micro_batches\": 5");
    Path other = Cli.file(folder, "other.json", text);
    for (String command : List.of("simulate", "check")) {
      Cli.run(command, other.toString())
          .refusal(2, "its micro-batches hold 10 samples, but global_batch says 16; make them");
    }
  }

  @Test
  void aDeadlockIsSpeltOutAsCheckDoes() {
    String text =
        Cli.text(plan)
            .replace("\"devices\": [0], \"in_flight\": 2", "\"devices\": [0], \"in_flight\": 1")
            .replace("\"devices\": [1], \"in_flight\": 1", "\"devices\": [1], \"in_flight\": 3");
    String stuck = Cli.file(folder, "stuck.json", text).toString();
    String sentence = Cli.run("simulate", stuck).refusal(2, "; that needs F1 of stage 0, which ");
    assertTrue(sentence.startsWith(stuck + ":"), sentence);
    assertEquals(Cli.run("check", stuck).ends(1).out().strip(), sentence);
  }

  @Test
  void otherConditionsMakeOtherSteps() {
    assertEquals(step(), step("--transfers", "queued"));
    assertTrue(step("--transfers", "blocking") > step());
    assertEquals(step(), step("--transfers", "shared"), 1e-9); // both in one machine
    assertTrue(step("--slowdown", "1.5") > step());
    assertTrue(step("--slow", "1:1.5") > step());
    assertEquals(step(), step("--look-ahead", "3"), 1e-9); // nothing to overtake in 1F1B
  }

  @Test
  void jitterSaysMedianAndP95OfItsRuns() {
    JsonNode jitter = simulated("--jitter", "0.2", "--runs", "40", "--seed", "9").get("jitter");
    assertEquals(40, jitter.get("runs").asInt());
    assertEquals(9, jitter.get("seed").asInt());
    assertTrue(jitter.get("least_s").asDouble() < jitter.get("median_s").asDouble());
    assertTrue(jitter.get("median_s").asDouble() < jitter.get("p95_s").asDouble());
    assertEquals(jitter, simulated("--jitter", "0.2", "--runs", "40", "--seed", "9").get("jitter"));
    String words = simulate("--stragglers", "0.5:2", "--runs", "10").ends(0).out();
    assertTrue(words.contains("with jitter: median "), words);
    assertTrue(words.contains("10 runs from seed 1"), words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--transfers later | --transfers: 'later' is none; take delayed, queued, blocking or shared",
        "--slowdown 0.5 | --slowdown: '0.5' is no number from 1 to a million; give one, like 1.2",
        "--look-ahead -1 | --look-ahead: '-1' is no whole number from 0; give one, like 4",
        "--slow 7:2 | --slow: there is no rank 7; ranks are 0 to 1",
        "--slow 2 | --slow: '2' is no rank with a factor; write them like 3:1.5",
        "--slow 0:0 | --slow: rank 0 cannot compute in no time; give a factor above 0, like 1.5",
        "--slow 0:2,0:3 | --slow: '0:2,0:3' names rank 0 twice; name it once",
        "--runs 5 | --runs: without --jitter or --stragglers all runs are the same; leave it out, or give --jitter 0.1",
        "--seed 5 | --seed: without --jitter or --stragglers all runs are the same; leave it out, or give --jitter 0.1",
        "--per-machine 2 | --per-machine: is for schedules, and a plan says where its devices are; leave it out",
        "--slow 0:fast | --slow: 'fast' is no number from 0 to a million; give one, like 1.5",
        "--jitter NaN | --jitter: 'NaN' is no number from 0 to a million; give one, like 0.1",
        "--jitter 11 | --jitter: a spread of 11 is beyond use; take at most 10",
        "--stragglers 2:2 | --stragglers: 2:2 is no chance; take one from 0 to 1",
        "--stragglers 1 | --stragglers: '1' is no chance with a factor; write them like 0.05:1.5",
        "--jitter 0.1 --runs 0 | --runs: '0' is no count; give whole numbers >= 1, like 64",
        "--jitter 0.1 --runs 1000000 | --runs: 1000000 runs would take too long; take at most 100000",
        "--jitter 0.1 --seed x | --seed: 'x' is no whole number; give one, like 1",
      })
  void badConditionsAreRefusedInOneSentence(String flags, String sentence) {
    assertEquals(sentence, simulate(flags.split(" ")).refusal(2));
  }
}

package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class TwoVersionsTest {
  @TempDir private Path folder;

  private Cli plan(String batch, String... more) {
    Path model = Cli.file(folder, "model.txt", Cli.smallGraph());
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    String[] args = {"--planner", "pipedream-2bw", "--profile-batch", "2", "--global-batch", batch};
    for (String one : more) {
      args = Cli.with(args, one);
    }
    return Cli.plan(model, cluster, args);
  }

  @Test
  void jsonHoldsThePlanAndItsReasons() {
    JsonNode json = plan("16", "--json").ends(0).json();
    assertEquals("pipedream-2bw", json.get("planner").asString());
    assertEquals("minibatch_s", json.at("/objective/name").asString());
    double seconds = json.at("/objective/value").asDouble();
    assertTrue(json.at("/lower_bound/value").asDouble() <= seconds);
    JsonNode plan = json.get("plan");
    assertEquals("pipedream-2bw", plan.get("schedule").asString());
    int samples =
        plan.get("micro_batches").asInt()
            * plan.get("micro_batch").asInt()
            * plan.get("replicas").asInt();
    assertEquals(16, samples);
    double slowest = 0;
    for (JsonNode stage : plan.get("stages")) {
      assertEquals(plan.get("replicas").asInt(), stage.get("devices").size());
      double busy = stage.get("forward_s").asDouble() + stage.get("backward_s").asDouble();
      // a layer's pass takes 2 and 4 ms for 2 samples
      int layers = stage.at("/layers/1").asInt() - stage.at("/layers/0").asInt() + 1;
      double each = plan.get("micro_batch").asInt() / 2.0;
      assertEquals(layers * 0.002 * each, stage.get("forward_s").asDouble(), 1e-12);
      assertTrue(stage.get("memory_bytes").asLong() <= stage.get("capacity_bytes").asLong());
      slowest = Math.max(slowest, busy + stage.get("transfer_s").asDouble());
    }
    assertTrue(slowest * plan.get("micro_batches").asInt() <= seconds * (1 + 1e-9));
    assertEquals(0, json.at("/candidates/0/gap").asDouble());
    assertTrue(json.at("/why/runner_up/gap").asDouble() >= 0);
    assertTrue(json.at("/search/exhaustive").asBoolean());
  }

  @Test
  void theRateOfADeviceCountsThoseOfAllReplicas() {
    JsonNode plan =
        Cli.plan(
                "bert-48",
                "dapple-b:4",
                "--global-batch",
                "64",
                "--planner",
                "pipedream-2bw",
                "--json")
            .ends(0)
            .json();
    assertEquals(2, plan.at("/plan/replicas").asInt());
    JsonNode straight =
        Cli.plan("bert-48", "dapple-b:4", "--global-batch", "64", "--planner", "straight", "--json")
            .ends(0)
            .json();
    assertEquals(teraflopOfASample(straight), teraflopOfASample(plan), 1e-9);
  }

  /** All four devices take part. */
  private static double teraflopOfASample(JsonNode answer) {
    return 4
        * answer.findValue("tflops_per_device").asDouble()
        / answer.findValue("samples_per_s").asDouble();
  }

  @Test
  void theReportNamesStagesBoundsAndRivals() {
    String report = plan("16").ends(0).out();
    for (String part :
        List.of("schedule pipedream-2bw", "lower bound", "bound by", "runner-up", "exact, ")) {
      assertTrue(report.contains(part), part + " is missing in:\n" + report);
    }
    report.lines().forEach(line -> assertTrue(line.length() <= 100, line));
  }

  @Test
  void whatDoesNotFitSaysWhatWould() {
    Cli none = plan("16", "--memory", "1000000").ends(1);
    assertTrue(
        none.err().startsWith("pipewright: nothing fits: the devices have 977 KiB each; "),
        none.err());
    String enough = none.err().replaceAll(".*; (.*?)B on each of the 4 would do\\s*", "$1B");
    plan("16", "--memory", enough).ends(0);
    JsonNode json = plan("16", "--memory", "1000000", "--json").ends(1).json();
    assertTrue(json.get("plan").isNull());
    assertEquals("memory", json.at("/why/binding").asString());
  }

  @Test
  void aBatchThatNoPipelineCanShareIsOneSentence() {
    String sentence = plan("3").ends(1).err();
    assertTrue(sentence.contains("no pipelines use all 4 devices"), sentence);
    assertTrue(sentence.contains("; take a larger global batch that 4 divides"), sentence);
  }

  @Test
  void flagsOfOtherPlannersAreRefused() {
    plan("16", "--levels", "4", "--bandwidths", "1e9")
        .refusal(2, "--levels: the planner pipedream-2bw does not support it");
    plan("16", "--schedule", "1f1b").refusal(2, "--schedule: the planner pipedream-2bw");
  }
}

package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.SvgReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code plan --front}. */
class PlanFrontTest {
  private static final String MODEL =
      "gpt:layers=6,hidden=512,heads=8,sequence=128,vocabulary=1024";
  private static final String CLUSTER = "dgx-h100:1x4";

  @TempDir private Path folder;

  private static Cli plan(String... more) {
    String[] flags = {"--global-batch", "16", "--planner", "dapple"};
    for (String each : more) {
      flags = Cli.with(flags, each);
    }
    return Cli.plan(MODEL, CLUSTER, flags);
  }

  private static boolean excels(JsonNode one, JsonNode other, boolean devices) {
    return one.get("step_s").asDouble() <= other.get("step_s").asDouble()
        && one.get("peak_bytes").asDouble() <= other.get("peak_bytes").asDouble()
        && (!devices || one.get("devices").asInt() <= other.get("devices").asInt());
  }

  /** The fastest is the plan that is found without the flag, and none excels another. */
  @Test
  void theFrontBeginsWithTheFastestPlan() {
    JsonNode usual = plan("--json").ends(0).json();
    JsonNode answer = plan("--front", "--json").ends(0).json();
    JsonNode front = answer.get("front");
    assertTrue(front.size() > 2, answer.toString());
    assertTrue(answer.get("searches").asInt() > 2);
    double fastest = front.get(0).get("step_s").asDouble();
    assertEquals(usual.get("simulated").get("step_s").asDouble(), fastest, 1e-12);
    for (JsonNode one : front) {
      for (JsonNode other : front) {
        assertTrue(one.equals(other) || !excels(one, other, false), one + " excels " + other);
      }
    }
    for (JsonNode candidate : usual.get("candidates")) {
      double step = candidate.path("simulated_s").asDouble(Double.POSITIVE_INFINITY);
      boolean as = false;
      for (JsonNode one : front) {
        as |=
            one.get("step_s").asDouble() <= step * (1 + 1e-12)
                && one.get("peak_bytes").asDouble() <= candidate.get("peak_bytes").asDouble();
      }
      assertTrue(as, candidate.toString());
    }
  }

  /** Each point is a plan that {@code check} and {@code simulate} take, with the same figures. */
  @Test
  void everyPointIsAPlanFile() throws Exception {
    String out = folder.resolve("out").toString();
    JsonNode front = plan("--front", "--json", "--out", out).ends(0).json().get("front");
    assertTrue(Cli.text(folder.resolve("out/front.json")).contains("\"front\""));
    for (int point = 1; point <= front.size(); point++) {
      String file = out + "/plan-" + point + ".json";
      Cli.run("check", file).ends(0);
      JsonNode simulated = Cli.run("simulate", file, "--json").ends(0).json();
      JsonNode expected = front.get(point - 1);
      assertEquals(
          expected.get("step_s").asDouble(),
          simulated.get("simulated").get("step_s").asDouble(),
          1e-12);
      double most = 0;
      for (JsonNode stage : simulated.get("plan").get("stages")) {
        most = Math.max(most, stage.get("memory_bytes").asDouble());
      }
      assertEquals(expected.get("peak_bytes").asDouble(), most, 1);
    }
    assertFalse(Files.exists(folder.resolve("out/plan-" + (front.size() + 1) + ".json")));
    SvgReader.assertInside(Cli.text(folder.resolve("out/front.svg")));
    plan("--front", "--out", out, "--memory", "1GB", "--stages", "1").ends(0);
    assertTrue(Files.exists(folder.resolve("out/plan-1.json")));
    assertFalse(Files.exists(folder.resolve("out/plan-" + front.size() + ".json")));
  }

  @Test
  void partsOfTheClusterCountWithTheSmallestCluster() {
    Cli printed = plan("--front", "--smallest-cluster");
    assertTrue(printed.ends(0).out().contains("needs more devices"), printed.out());
    JsonNode front = plan("--front", "--smallest-cluster", "--json").ends(0).json().get("front");
    assertEquals(1, front.get(0).get("devices").asInt());
    assertEquals(4, front.get(front.size() - 1).get("devices").asInt());
    for (JsonNode one : front) {
      for (JsonNode other : front) {
        assertTrue(one.equals(other) || !excels(one, other, true), one + " excels " + other);
      }
    }
  }

  @Test
  void whatHasNoFrontIsRefused() {
    plan("--front", "--memory", "1MB").ends(1);
    plan("--front", "--export", "megatron").refusal(2, "--export: is for one plan");
    plan("--front", "--objective", "cost").refusal(2, "--front: is of step time and memory");
    plan("--front", "--target-time", "1").refusal(2, "--target-time: --front has plans");
    plan("--front", "--what-if").refusal(2, "leave out --front");
    plan("--front", "--evaluate", "x.json").refusal(2, "--evaluate scores a plan");
    Cli.plan(MODEL, CLUSTER, "--global-batch", "16", "--planner", "capture", "--front")
        .refusal(2, "--front: the planner capture does not make steps short");
  }
}

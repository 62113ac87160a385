package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code plan --objective p95}. */
class RobustPlanTest {
  private static final String MODEL = "bert-48";
  private static final String CLUSTER = "dapple-a:1x8";

  @TempDir private Path folder;

  private static Cli plan(String... more) {
    String[] flags = {"--global-batch", "64", "--planner", "dapple"};
    for (String each : more) {
      flags = Cli.with(flags, each);
    }
    return Cli.plan(MODEL, CLUSTER, flags);
  }

  /** The percentile is what {@code simulate} says of the written plan under the same chances. */
  @ParameterizedTest
  @CsvSource({"--jitter, 0.2, 100, 7", "--stragglers, 0.1:1.7, 60, 3"})
  void thePercentileIsThatOfSimulate(String flag, String value, String runs, String seed) {
    String out = folder.resolve("out").toString();
    String[] chances = {flag, value, "--runs", runs, "--seed", seed, "--json"};
    JsonNode answer =
        plan(
                chances[0],
                chances[1],
                chances[2],
                chances[3],
                chances[4],
                chances[5],
                "--json",
                "--objective",
                "p95",
                "--out",
                out)
            .ends(0)
            .json();
    String[] arguments = Cli.with(new String[] {"simulate"}, out + "/plan.json");
    for (String each : chances) {
      arguments = Cli.with(arguments, each);
    }
    JsonNode simulated = Cli.run(arguments).ends(0).json().get("simulated");
    JsonNode robust = answer.get("robust");
    for (String figure : new String[] {"median_s", "p95_s", "mean_s", "runs", "seed"}) {
      assertEquals(
          simulated.get("jitter").get(figure).asDouble(), robust.get(figure).asDouble(), 1e-12);
    }
    assertEquals(simulated.get("step_s").asDouble(), robust.get("step_s").asDouble(), 1e-12);
    assertEquals("p95_step_s", answer.get("objective").get("name").asString());
    assertEquals(robust.get("p95_s").asDouble(), answer.get("objective").get("value").asDouble());
    double before = 0;
    for (JsonNode candidate : answer.get("candidates")) {
      double p95 = candidate.get("p95_s").asDouble();
      assertTrue(p95 >= before, p95 + " after " + before);
      before = p95;
    }
    assertTrue(before > robust.get("p95_s").asDouble(), "several percentiles");
  }

  /**
   * Of 100 steps 3 have a straggler on one rank, and about 6 on two: 95 % of steps on one rank are
   * as short as without, though the fastest plan has two.
   */
  @Test
  void fewerRanksWinWhereTheFastestPlanWaitsForStragglers() {
    String[] chances = {"--global-batch", "256", "--objective", "p95", "--stragglers", "0.03:2"};
    JsonNode answer = Cli.plan(MODEL, CLUSTER, Cli.with(chances, "--json")).ends(0).json();
    JsonNode robust = answer.get("robust");
    JsonNode fastest = robust.get("fastest");
    assertEquals(1, robust.get("ranks").asInt());
    assertEquals(2, fastest.get("ranks").asInt());
    assertEquals(robust.get("step_s").asDouble(), robust.get("p95_s").asDouble(), 1e-12);
    assertTrue(fastest.get("step_s").asDouble() < robust.get("step_s").asDouble());
    assertTrue(fastest.get("p95_s").asDouble() > robust.get("p95_s").asDouble());
    JsonNode usual = Cli.plan(MODEL, CLUSTER, "--global-batch", "256", "--json").ends(0).json();
    assertEquals(
        usual.get("simulated").get("step_s").asDouble(), fastest.get("step_s").asDouble(), 1e-12);
    String said = Cli.plan(MODEL, CLUSTER, chances).ends(0).out().replaceAll("\\s+", " ");
    assertTrue(said.contains("its steps wait for the slowest of 2 ranks, and here of 1"), said);
  }

  @Test
  void littleJitterLeavesTheFastestPlan() {
    JsonNode answer = plan("--objective", "p95", "--jitter", "1e-6", "--json").ends(0).json();
    assertTrue(answer.get("robust").get("fastest").isNull());
    JsonNode usual = plan("--json").ends(0).json();
    assertEquals(
        usual.get("simulated").get("step_s").asDouble(),
        answer.get("robust").get("step_s").asDouble(),
        1e-12);
    assertNotEquals(usual.get("objective"), answer.get("objective"));
  }

  @Test
  void flagsThatDoNotGoTogetherAreRefused() {
    plan("--objective", "p95").refusal(2, "--objective p95: no durations vary; add --jitter");
    plan("--jitter", "0.1").refusal(2, "--jitter: says how durations vary", "--objective p95");
    plan("--seed", "2").refusal(2, "--seed: says how durations vary");
    plan("--objective", "p95", "--jitter", "11").refusal(2, "--jitter: a spread of 11");
    plan("--objective", "p95", "--stragglers", "0.1")
        .refusal(2, "--stragglers: '0.1' is no chance");
    plan("--objective", "p95", "--jitter", "0.1", "--runs", "0").refusal(2, "--runs");
    plan("--objective", "p95", "--jitter", "0.1", "--what-if").refusal(2, "leave out --objective");
    plan("--objective", "p95", "--jitter", "0.1", "--evaluate", "x.json")
        .refusal(2, "--evaluate scores a plan as it is");
    plan("--objective", "p95", "--jitter", "0.1", "--smallest-cluster")
        .refusal(2, "--smallest-cluster: asks for the fewest devices");
  }
}

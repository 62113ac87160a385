package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code plan --smallest-cluster} and {@code plan --objective cost}. */
class SizedAnswerTest {
  @TempDir private Path folder;

  private static Cli plan(String... more) {
    List<String> all = new ArrayList<>(List.of("--global-batch", "64", "--planner", "dapple"));
    all.addAll(List.of(more));
    return Cli.plan("bert-48", "dapple-a:2x8", all.toArray(String[]::new));
  }

  @Test
  void theFewestDevicesThatReachATargetAndWhyFewerDoNot() {
    double four =
        Cli.plan("bert-48", "dapple-a:1x4", "--global-batch", "64", "--planner", "dapple", "--json")
            .ends(0)
            .json()
            .at("/simulated/step_s")
            .asDouble();
    String target = Double.toString(0.99 * four);
    JsonNode json = plan("--smallest-cluster", "--target-time", target, "--json").ends(0).json();
    JsonNode smallest = json.get("smallest_cluster");
    assertEquals(8, smallest.get("devices").asInt());
    assertEquals(16, smallest.get("of").asInt());
    assertEquals(4, smallest.at("/next_smaller/devices").asInt());
    assertEquals(four, smallest.at("/next_smaller/step_s").asDouble(), 1e-12);
    String why = smallest.at("/next_smaller/why").asString();
    assertTrue(why.startsWith("its fastest step takes "), why);
    assertEquals(4, json.get("sizes").size());
    Cli text = plan("--smallest-cluster", "--target-time", target).ends(0);
    assertTrue(
        text.out().contains("8 devices of the 16 of dapple-a:2x8 are the fewest on which a step"),
        text.out());
    assertTrue(text.out().contains(" On 4: its fastest step takes "), text.out());
  }

  @Test
  void itsPlanIsOneOfTheWholeCluster() {
    Path out = folder.resolve("out");
    JsonNode json =
        plan("--smallest-cluster", "--memory", "8GB", "--json", "--out", out.toString())
            .ends(0)
            .json();
    Cli simulated = Cli.run("simulate", out.resolve("plan.json").toString(), "--json").ends(0);
    assertEquals(
        json.at("/simulated/step_s").asDouble(),
        simulated.json().at("/simulated/step_s").asDouble(),
        1e-12);
    assertTrue(json.at("/smallest_cluster/devices").asInt() < 16, json::toString);
  }

  @Test
  void whereNoSizeDoesItSaysWhatWould() {
    plan("--smallest-cluster", "--target-time", "0.001")
        .refusal(1, "nothing fits: on all 16 devices of dapple-a:2x8 its fastest step takes ");
    Cli memory = plan("--smallest-cluster", "--memory", "100MB", "--json").ends(1);
    assertTrue(memory.json().at("/smallest_cluster/devices").isNull(), memory.out());
    assertEquals(
        memory.json().at("/smallest_cluster/next_smaller/devices").asInt(), 16, memory.out());
    assertTrue(memory.err().contains(" on each of the 16 would do"), memory.err());
  }

  @Test
  void theCheapestIsNoDearerThanAnySizeAndThePricesAreItsOwn() {
    JsonNode json = plan("--objective", "cost", "--device-hour", "2.5", "--json").ends(0).json();
    assertEquals("device_s", json.at("/objective/name").asString());
    double value = json.at("/objective/value").asDouble();
    assertTrue(value >= json.at("/lower_bound/value").asDouble());
    for (JsonNode size : json.get("sizes")) {
      if (size.has("device_s")) {
        assertTrue(value <= size.get("device_s").asDouble() * (1 + 1e-12), size::toString);
      }
    }
    JsonNode cost = json.get("cost");
    assertEquals(value, cost.get("device_s").asDouble(), 1e-12 * value);
    assertEquals(value * 2.5 / 3600, cost.get("step_price").asDouble(), 1e-12);
    assertEquals(value * 2.5 / 3600 / 64 * 1e6, cost.get("million_samples_price").asDouble(), 1e-6);
    assertEquals(64 / value, cost.get("samples_per_s_per_device").asDouble(), 1e-9);
    Cli text = plan("--objective", "cost", "--device-hour", "2.5").ends(0);
    assertTrue(text.out().contains(" cheapest"), text.out());
    assertTrue(text.out().contains(" per second: a million samples for "), text.out());
  }

  /** Twice the price changes no plan; without a price there are device-seconds alone. */
  @Test
  void thePriceDoesNotChangeThePlan() {
    JsonNode dear = plan("--objective", "cost", "--device-hour", "5", "--json").ends(0).json();
    JsonNode none = plan("--objective", "cost", "--json").ends(0).json();
    assertEquals(dear.get("plan"), none.get("plan"));
    assertTrue(!none.get("cost").has("step_price"), none::toString);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --target-time 1 | --target-time: is what the fewest devices have to reach; add --smallest-cluster
          --smallest-cluster --target-time -1 | --target-time: '-1' is no time of a step; give seconds, like 0.5
          --smallest-cluster --objective cost | --smallest-cluster: asks for the fewest devices, and --objective cost for others
          --device-hour 2 | --device-hour: is a price; add --objective cost
          --objective cost --device-hour nothing | --device-hour: 'nothing' is no price; give a number above 0
          --smallest-cluster --evaluate x.json | --smallest-cluster: --evaluate scores a plan as it is
          """)
  void whatDoesNotGoTogetherIsRefused(String more, String sentence) {
    plan(more.split(" ", -1)).refusal(2, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --smallest-cluster | capture | --smallest-cluster: the planner capture does not make steps short; take another
          --smallest-cluster | pipedream | --smallest-cluster: the planner pipedream does not make steps short
          --objective cost | capture | --objective: cost is not what the planner capture plans for
          """)
  void plannersOfOtherObjectivesAreRefused(String more, String planner, String sentence) {
    List<String> all = new ArrayList<>(List.of("--global-batch", "64", "--planner", planner));
    all.addAll(List.of(more.split(" ", -1)));
    Cli.plan("bert-48", "dapple-a:2x8", all.toArray(String[]::new)).refusal(2, sentence);
  }

  @Test
  void aSweepKeepsTheCheapest() {
    Path file =
        Cli.file(
            folder,
            "s.yaml",
            """
            models: [bert-48]
            clusters: [dapple-a:1x4]
            batches: [64]
            flags: [--planner dapple --objective cost, --planner dapple --smallest-cluster]
            """);
    Cli run =
        Cli.run(
                "plan",
                "--sweep",
                file.toString(),
                "--out",
                folder.resolve("s").toString(),
                "--json")
            .ends(0);
    JsonNode results = run.json().get("results");
    assertEquals("device_s", results.get(0).get("objective").asString());
    assertEquals("step_s", results.get(1).get("objective").asString());
    assertEquals(1, results.get(1).get("devices").asInt());
  }
}

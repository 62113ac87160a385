package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code plan --objective}. */
class ObjectiveTest {
  private static final String NO_OBJECTIVE = "";

  @TempDir private Path folder;
  private Path model = Path.of("");
  private Path cluster = Path.of("");

  @BeforeEach
  void makeFiles() {
    model = Cli.file(folder, "model.txt", Cli.smallGraph());
    cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
  }

  private Cli plan(String objective, String planner, String... more) {
    List<String> all = new ArrayList<>(List.of("--global-batch", "8", "--profile-batch", "2"));
    if (!objective.equals(NO_OBJECTIVE)) {
      all.addAll(List.of("--objective", objective));
    }
    all.addAll(List.of("--planner", planner));
    all.addAll(Arrays.asList(more));
    return Cli.plan(model, cluster, all.toArray(new String[0]));
  }

  @ParameterizedTest
  @CsvSource({
    "time, auto, auto",
    "time, dapple, dapple",
    "time, straight, dapple",
    "memory, auto, capture",
    "memory, mcap, mcap",
    "throughput, madpipe, madpipe"
  })
  void aPlannerForItAnswers(String objective, String planner, String answers) {
    JsonNode json = plan(objective, planner, "--json").ends(0).json();
    assertEquals(answers, json.get("planner").asString());
  }

  @Test
  void withoutOneItIsTheTimeOfAStep() {
    JsonNode json = plan(NO_OBJECTIVE, "auto", "--json").ends(0).json();
    JsonNode same = plan("time", "auto", "--json").ends(0).json();
    assertEquals(json.get("plan"), same.get("plan"));
    assertEquals("step_s", same.at("/objective/name").asString());
  }

  @Test
  void theLeastPeakIsNoMoreThanThatOfTheFastestStep() {
    double least = plan("memory", "auto", "--json").json().at("/objective/value").asDouble();
    JsonNode fast = plan("time", "auto", "--json").json();
    double peak = 0;
    for (JsonNode stage : fast.at("/plan/stages")) {
      peak = Math.max(peak, stage.get("memory_bytes").asDouble());
    }
    assertTrue(least < peak, least + " against " + peak);
  }

  @Test
  void aTableOfPeaksIsForMcap() {
    Path table = Cli.file(folder, "peaks.csv", "alone,added\n5,0\n7,3\n6,2\n9,4\n");
    Cli answer =
        Cli.run(
            "plan",
            table.toString(),
            "--cluster",
            "dapple-a:1x2",
            "--objective",
            "memory",
            "--json");
    assertEquals("mcap", answer.ends(0).json().get("planner").asString());
  }

  /** What a planner's plan takes for a mini-batch, as {@code simulate} says where it can. */
  private double seconds(String planner, String memory) {
    Path out = folder.resolve(planner + memory);
    Cli planned =
        plan(NO_OBJECTIVE, planner, "--memory", memory, "--json", "--out", out.toString());
    if (planned.status() != 0 || planned.err().contains("does not fit")) {
      return Double.POSITIVE_INFINITY;
    }
    String path = planner.equals("madpipe") ? "/objective/value" : "/simulated/minibatch_s";
    return planner.equals("madpipe")
        ? planned.json().at(path).asDouble()
        : Cli.run("simulate", out.resolve("plan.json").toString(), "--json")
            .ends(0)
            .json()
            .at(path)
            .asDouble();
  }

  @ParameterizedTest
  @CsvSource({"1e9, 3", "1e8, 3", "8e7, 2"})
  void theFastestOfThoseThatFitIsTaken(String memory, int fitting) {
    Map<String, Double> seconds = new HashMap<>();
    for (String planner : List.of("pipedream", "pipedream-2bw", "madpipe")) {
      seconds.put(planner, seconds(planner, memory));
    }
    assertEquals(fitting, seconds.values().stream().filter(Double::isFinite).count());
    Path out = folder.resolve("best" + memory);
    Cli best = plan("throughput", "auto", "--memory", memory, "--json", "--out", out.toString());
    String planner = best.ends(0).json().get("planner").asString();
    assertEquals(
        seconds.values().stream().mapToDouble(value -> value).min().orElseThrow(),
        seconds.get(planner),
        seconds::toString);
    assertTrue(best.err().contains("the least that fits; "), best.err());
    assertTrue(Files.exists(out.resolve("plan.json")));
    if (fitting < 3) {
      assertNotEquals("pipedream", planner);
      assertTrue(best.err().contains("versions of its weights"), best.err());
    }
  }

  @Test
  void whereNothingFitsItSaysWhatWould() {
    String why = plan("throughput", "auto", "--memory", "1e6").refusal(1, "none has a plan");
    for (String part : List.of("pipedream ", "pipedream-2bw (", "madpipe (", "would do")) {
      assertTrue(why.contains(part), why);
    }
    JsonNode json = plan("throughput", "auto", "--memory", "1e6", "--json").ends(1).json();
    assertTrue(json.get("plan").isNull());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          memory | dapple || --objective: memory is not what the planner dapple plans for; leave one of them out, or take --planner mcap
          time | capture || --objective: time is not what the planner capture plans for
          throughput | gpipe || --objective: throughput is not what the planner gpipe plans for; leave one of them out, or take --planner pipedream or pipedream-2bw or madpipe or placement
          speed | auto || --objective: unknown 'speed'; one of time, memory, throughput
          throughput | auto | --micro-batch 2 | --micro-batch: the planner auto for throughput does not support it
          memory | auto | --evaluate x.json | --evaluate: the planner capture does not support it
          """)
  void contradictionsAreRefused(String objective, String planner, String more, String sentence) {
    plan(objective, planner, more == null ? new String[0] : more.split(" ", -1))
        .refusal(2, sentence);
  }
}

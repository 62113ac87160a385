package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Amounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What scripts rely on: keys, files, figures that agree between commands, exit statuses. */
class CliAnswerTest {
  @TempDir Path folder;
  private Path graph = Path.of("");
  private Path cluster = Path.of("");

  @BeforeEach
  void files() {
    graph = Cli.file(folder, "small.txt", Cli.smallGraph());
    cluster = Cli.file(folder, "small.yaml", Cli.cluster());
  }

  private Cli planned(String... more) {
    String[] all = new String[more.length + 4];
    all[0] = "--profile-batch";
    all[1] = "2";
    all[2] = "--global-batch";
    all[3] = "16";
    System.arraycopy(more, 0, all, 4, more.length);
    return Cli.plan(graph, cluster, all);
  }

  @Test
  void jsonIsOneObjectWithTheKeysOfTheContract() {
    Cli run = planned("--json").ends(0);
    assertEquals("", run.err());
    JsonNode answer = run.json();
    assertHas(
        answer, "planner objective lower_bound speedup planning_s plan simulated why candidates");
    assertEquals("step_s", answer.at("/objective/name").asString());
    assertHas(answer.get("objective"), "name value");
    assertHas(answer.get("lower_bound"), "value why");
    assertHas(answer.get("plan"), "schedule micro_batches micro_batch replicas stages");
    for (JsonNode stage : answer.at("/plan/stages")) {
      assertHas(stage, "layers devices forward_s backward_s allreduce_s memory_bytes recompute");
      assertEquals(2, stage.get("layers").size());
    }
    assertHas(answer.get("simulated"), "step_s idle_share peak_bytes");
    assertEquals(4, answer.at("/simulated/peak_bytes").size());
    assertHas(answer.get("why"), "binding runner_up");
    assertTrue(answer.get("candidates").size() >= 1);
    assertTrue(
        answer.at("/lower_bound/value").asDouble() <= answer.at("/objective/value").asDouble());
  }

  private static void assertHas(JsonNode node, String keys) {
    for (String key : keys.split(" ", -1)) {
      assertTrue(node.has(key), "no " + key + " in " + node);
    }
  }

  @Test
  void jsonIsOneObjectWhereNothingFitsToo() {
    Cli run = planned("--json", "--memory", "1kB").ends(1);
    assertTrue(run.json().get("plan").isNull());
    assertTrue(run.err().startsWith("pipewright: nothing fits: "), run.err());
  }

  @Test
  void planningTwiceGivesTheSameAnswer() {
    assertEquals(withoutTime(planned("--json")), withoutTime(planned("--json")));
  }

  @Test
  void aTimeLimitEndsTheSearchWithTheBestSoFarAndItsGap() {
    Cli run =
        Cli.run(
                "plan",
                "gpt:layers=96,hidden=1024,heads=16,sequence=1024,vocabulary=50257",
                "--cluster",
                "dapple-a:8x8",
                "--global-batch",
                "512",
                "--time-limit",
                "0.000001",
                "--json")
            .ends(0);
    assertFalse(run.json().at("/plan/stages").isEmpty());
    String said = "pipewright: the search was ended early; the best so far is ";
    assertTrue(run.err().startsWith(said), run.err());
    String why = run.json().at("/lower_bound/why").asString();
    assertTrue(why.length() > 10, why);
    assertTrue(run.err().contains(" above the lower bound (" + why + ")"), run.err());
  }

  private static String withoutTime(Cli run) {
    return run.out().replaceFirst("\"planning_s\": [-+.0-9E]+", "");
  }

  @Test
  void outWritesFilesThatSimulateAndCheckReadBack() {
    Path out = folder.resolve("sp ace/öut");
    Cli plan = planned("--json", "--out", out + "/").ends(0);
    for (String name : List.of("plan.json", "report.html", "timeline.svg", "trace.json")) {
      assertTrue(Files.isRegularFile(out.resolve(name)), name);
    }
    String file = out.resolve("plan.json").toString();
    JsonNode again = Cli.run("simulate", file, "--json").ends(0).json();
    assertNear(plan.json().at("/simulated/step_s"), again.at("/simulated/step_s"));
    Cli check = Cli.run("check", file).ends(0);
    assertTrue(check.out().startsWith(file + ": can run: "), check.out());
    assertEquals("", check.err());
    planned("--out", out.toString()).ends(0); // its own files are replaced
  }

  @Test
  void aPlanRemembersPrecisionOptimizerAndMemory() {
    String out = folder.resolve("mixed").toString();
    Cli made =
        Cli.run(
            "plan",
            "bert-48",
            "--cluster",
            "dapple-a",
            "--global-batch",
            "64",
            "--micro-batch",
            "8",
            "--precision",
            "mixed",
            "--optimizer",
            "momentum",
            "--memory",
            "7GiB",
            "--json",
            "--out",
            out);
    JsonNode plan = made.ends(0).json();
    JsonNode again = Cli.run("simulate", out + "/plan.json", "--json").ends(0).json();
    assertNear(plan.at("/simulated/step_s"), again.at("/simulated/step_s"));
    assertEquals(plan.at("/simulated/peak_bytes"), again.at("/simulated/peak_bytes"));
    assertEquals(7L << 30, again.at("/plan/stages/0/capacity_bytes").asLong());
    Cli.run("check", out + "/plan.json", "--memory", "1GiB").ends(1); // said anew
  }

  private static void assertNear(JsonNode expected, JsonNode actual) {
    assertEquals(1, actual.asDouble() / expected.asDouble(), 1e-12);
  }

  @Test
  void evaluatingThePlanFoundGivesItsObjective() {
    Path out = folder.resolve("out");
    JsonNode found = planned("--json", "--out", out.toString()).json();
    JsonNode given =
        planned("--json", "--evaluate", out.resolve("plan.json").toString()).ends(0).json();
    assertNear(found.at("/objective/value"), given.at("/objective/value"));
    JsonNode printed =
        planned(
                "--json",
                "--evaluate",
                Cli.file(folder, "answer.json", planned("--json").out()).toString())
            .ends(0)
            .json();
    assertNear(found.at("/objective/value"), printed.at("/objective/value"));
  }

  private Cli checked(String plan, String... more) {
    Path file = Cli.file(folder, "plan.json", plan);
    String[] args = {
      "check",
      file.toString(),
      "--model",
      graph.toString(),
      "--profile-batch",
      "2",
      "--cluster",
      cluster.toString()
    };
    String[] all = java.util.Arrays.copyOf(args, args.length + more.length);
    System.arraycopy(more, 0, all, args.length, more.length);
    return Cli.run(all);
  }

  @Test
  void checkSaysWhereMemoryIsExceeded() {
    checked(Cli.plan()).ends(0);
    Cli small = checked(Cli.plan(), "--memory", "60MB").ends(1);
    assertTrue(small.out().contains("plan.json:6:5: stage 0 needs"), small.out());
    JsonNode json = checked(Cli.plan(), "--memory", "60MB", "--json").ends(1).json();
    assertFalse(json.get("valid").asBoolean());
    assertTrue(json.at("/problems/0/message").asString().startsWith("stage 0 needs"));
  }

  @Test
  void checkSaysWhereAScheduleDeadlocks() {
    String stuck =
        Cli.plan()
            .replace("\"devices\": [0]", "\"devices\": [0], \"in_flight\": 1")
            .replace("\"devices\": [1]", "\"devices\": [1], \"in_flight\": 3");
    Cli run = checked(stuck).ends(1);
    assertTrue(run.out().contains("rank 0 waits for ever before B0 of stage 0"), run.out());
  }

  @Test
  void checkSaysWhatIsOutsideTheModelOrTheCluster() {
    Cli run = checked(Cli.plan().replace("[3, 5]", "[3, 6]").replace("[1]", "[4]")).ends(1);
    assertTrue(run.out().contains("stages[1].layers ends at 6"), run.out());
    assertTrue(run.out().contains("stages[1].devices names 4"), run.out());
  }

  @Test
  void aPlanThatDoesNotFitIsScoredButEndsWith1() {
    Path file = Cli.file(folder, "given.json", Cli.plan());
    Cli run = planned("--json", "--evaluate", file.toString(), "--memory", "60MB").ends(1);
    assertTrue(run.json().at("/objective/value").asDouble() > 0);
    assertTrue(run.err().startsWith("pipewright: does not fit: stage 0 needs "), run.err());
  }

  @Test
  void whatIsNoTerminalGetsNoColours() {
    assertFalse(planned().ends(0).out().contains("\u001b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "plan", "simulate", "check", "models", "clusters"})
  void helpShowsExamples(String command) {
    Cli run = command.isEmpty() ? Cli.run("--help") : Cli.run(command, "--help");
    run.ends(0);
    assertTrue(run.out().contains("Example"), run.out());
    assertTrue(run.out().contains("  pipewright " + command), run.out());
    assertEquals("", run.err());
  }

  @Test
  void versionIsThatOfTheBuild() throws IOException {
    String build = Files.readString(Path.of("../pom.xml")).replaceFirst("(?s).*?<version>", "");
    String version = build.replaceFirst("(?s)</version>.*", "");
    String released = version.replace("-SNAPSHOT", "");
    assertEquals("pipewright " + released + "\n", Cli.run("--version").ends(0).out());
    String page = Files.readString(Path.of("../docs/api.md"));
    assertTrue(page.contains("<version>" + version + "</version>"), "docs/api.md");
    String changes = Files.readString(Path.of("../CHANGELOG.md"));
    assertTrue(changes.contains("\n## " + released + " — "), "CHANGELOG.md");
  }

  @Test
  void modelsAndClustersAreListed() {
    assertTrue(Cli.run("models").ends(0).out().contains("bert-48"));
    assertTrue(Cli.run("clusters").ends(0).out().contains("dapple-a"));
    assertTrue(Cli.run("models", "--json").ends(0).json().get("models").size() > 3);
    assertTrue(Cli.run("clusters", "--json").ends(0).json().get("clusters").size() > 2);
    JsonNode one = Cli.run("clusters", "dapple-a", "--json").ends(0).json();
    assertEquals(Cli.run("clusters", "dapple-a").ends(0).out(), one.get("yaml").asString());
  }

  @Test
  void aClusterPrintedAsAFilePlansAlike() {
    Path file = Cli.file(folder, "printed.yaml", Cli.run("clusters", "dapple-a").ends(0).out());
    assertEquals(Cli.text(file), Cli.run("clusters", file.toString()).ends(0).out());
    String[] more = {"--profile-batch", "2", "--global-batch", "16", "--json"};
    JsonNode named = Cli.plan(graph, "dapple-a", more).ends(0).json();
    JsonNode printed = Cli.plan(graph, file, more).ends(0).json();
    assertEquals(named.get("plan"), printed.get("plan"));
    assertEquals(named.get("objective"), printed.get("objective"));
  }

  @Test
  void memoryIsReadInEveryUsualUnit() {
    for (String same :
        List.of(
            "1073741824",
            "1GiB",
            "1 gib",
            "1024MiB",
            "1048576KiB",
            "1.073741824e9",
            "1.073741824GB",
            "1Gi")) {
      assertEquals(1L << 30, Amounts.bytes(same).value(), same);
    }
  }

  @Test
  void oneLayerAndOneDeviceAreEnough() {
    Path one = Cli.file(folder, "one.txt", Cli.graph(1_000_000));
    JsonNode answer =
        Cli.plan(one, "dapple-b:1", "--profile-batch", "2", "--global-batch", "7", "--json")
            .ends(0)
            .json();
    assertEquals(1, answer.at("/plan/stages").size());
    JsonNode straight =
        Cli.plan(
                one,
                "dapple-a",
                "--profile-batch",
                "2",
                "--global-batch",
                "7",
                "--json",
                "--planner",
                "straight")
            .ends(0)
            .json();
    assertEquals(1, straight.at("/plan/stages/0/devices").size());
  }

  @Test
  void devicesOfTwoKindsAndThreeLevelsArePlannedFor() {
    String text =
        Cli.cluster()
            .replace(
                "levels:",
                "  - {name: big, memory_bytes: 4e9, fp32_flops: 2e13, mixed_flops: 8e13,"
                    + " memory_bytes_per_s: 1e12}\nlevels:")
            .replace(
                "  - {kind: tiny, count: 4}",
                "  - {kind: tiny, count: 4}\n  - {kind: big, count: 4}")
            .replace(
                "devices:",
                "  - name: site\n    point_to_point: {latency_s: 1e-3, bytes_per_s: 1e8}\n"
                    + "    collective: {latency_s: 1e-3, bytes_per_s: 1e8}\n    groups: 2\ndevices:");
    Path mixed = Cli.file(folder, "mixed.yaml", text);
    Cli.plan(graph, mixed, "--profile-batch", "2", "--global-batch", "16").ends(0);
  }
}

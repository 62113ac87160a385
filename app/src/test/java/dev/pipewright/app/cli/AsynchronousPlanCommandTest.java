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
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Plans that never flush, from {@code plan} to {@code check} and {@code simulate}. */
class AsynchronousPlanCommandTest {
  @TempDir private Path folder;
  private Path model = Path.of("");
  private Path cluster = Path.of("");

  @BeforeEach
  void makeFiles() {
    model = Cli.file(folder, "model.txt", Cli.smallGraph());
    cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
  }

  private Path planned(String planner, String... more) {
    Path out = folder.resolve(planner);
    List<String> all = new ArrayList<>(List.of("--planner", planner, "--profile-batch", "2"));
    all.addAll(List.of("--global-batch", "8", "--out", out.toString()));
    all.addAll(Arrays.asList(more));
    Cli.plan(model, cluster, all.toArray(new String[0])).ends(0);
    return out.resolve("plan.json");
  }

  private Path onLevels() {
    Path out = folder.resolve("levels");
    Cli.run(
            "plan",
            model.toString(),
            "--planner",
            "pipedream",
            "--profile-batch",
            "2",
            "--levels",
            "2,2",
            "--bandwidths",
            "2e10,1e9",
            "--out",
            out.toString())
        .ends(0);
    return out.resolve("plan.json");
  }

  private static Cli simulate(Path plan, String... more) {
    List<String> args = new ArrayList<>(List.of("simulate", plan.toString()));
    args.addAll(Arrays.asList(more));
    return Cli.run(args.toArray(new String[0]));
  }

  @ParameterizedTest
  @ValueSource(strings = {"pipedream", "pipedream-2bw"})
  void whatIsPlannedCanBeCheckedAndSimulated(String planner) {
    Path plan = planned(planner);
    assertTrue(Cli.run("check", plan.toString()).ends(0).out().contains(": can run: "));
    JsonNode json = simulate(plan, "--json").ends(0).json();
    double simulated = json.at("/simulated/minibatch_s").asDouble();
    double expected = json.get("expected_s").asDouble();
    assertEquals("minibatch_s", json.at("/objective/name").asString());
    assertEquals(simulated, json.at("/objective/value").asDouble());
    assertTrue(simulated > 0.5 * expected && simulated < 2 * expected, simulated + " " + expected);
    assertEquals(4, json.at("/simulated/peak_bytes").size());
    json.at("/simulated/peak_bytes").forEach(peak -> assertTrue(peak.asLong() > 0));
    String text = simulate(plan).ends(0).out();
    for (String part : List.of("schedule " + planner, "simulated, mean of 20 rounds", "planned")) {
      assertTrue(text.contains(part), text);
    }
  }

  @Test
  void levelsAreAClusterWithoutLimitOfMemory() {
    Path plan = onLevels();
    Cli.run("check", plan.toString()).ends(0);
    JsonNode json = simulate(plan, "--json").ends(0).json();
    assertEquals("levels", json.get("cluster").asString());
    assertEquals(4, json.at("/simulated/peak_bytes").size());
    assertTrue(simulate(plan).ends(0).out().contains("—"));
    simulate(plan, "--cluster", cluster.toString()).ends(0);
    Cli.run("check", plan.toString(), "--memory", "1000000").ends(1);
  }

  @Test
  void stagesAreAsFastAsTheirSlowestDeviceLetsThem() {
    Path plan = onLevels();
    double usual = seconds(plan);
    assertTrue(seconds(plan, "--slowdown", "2") >= usual);
    double slow = seconds(plan, "--slow", "0:3");
    assertTrue(slow > 1.2 * usual, slow + " against " + usual);
  }

  @Test
  void messagesOfAMachineShareItsPortUnlessTheyAreToldOtherwise() {
    Path plan = onLevels();
    double shared = seconds(plan);
    assertEquals(shared, seconds(plan, "--transfers", "shared"));
    double queued = seconds(plan, "--transfers", "queued");
    assertTrue(shared > queued, shared + " against " + queued);
    double blocking = seconds(plan, "--transfers", "blocking");
    assertTrue(blocking >= queued, blocking + " against " + queued);
    assertTrue(seconds(plan, "--transfers", "delayed") <= queued);
  }

  private double seconds(Path plan, String... flags) {
    List<String> more = new ArrayList<>(List.of(flags));
    more.add("--json");
    return simulate(plan, more.toArray(new String[0]))
        .ends(0)
        .json()
        .at("/simulated/minibatch_s")
        .asDouble();
  }

  @Test
  void tooLittleMemoryIsFoundWhereItIs() {
    Path plan = planned("pipedream");
    Cli check = Cli.run("check", plan.toString(), "--memory", "20000000").ends(1);
    assertTrue(check.out().contains("versions of its weights"), check.out());
    assertTrue(check.out().startsWith(plan + ":"), check.out());
    Cli again =
        Cli.plan(
                model,
                cluster,
                "--planner",
                "pipedream",
                "--global-batch",
                "8",
                "--profile-batch",
                "2",
                "--memory",
                "20000000")
            .ends(0); // as the optimizer knows no memory
    String sentence = check.out().lines().findFirst().orElseThrow();
    assertTrue(
        again.err().endsWith(sentence.substring(sentence.indexOf("stage 0")) + "\n"), again.err());
    JsonNode json =
        Cli.run("check", plan.toString(), "--memory", "20000000", "--json").ends(1).json();
    assertEquals("memory", json.at("/problems/0/what").asString());
    assertEquals(0, json.at("/problems/0/stage").asInt());
    assertTrue(
        simulate(plan, "--memory", "20000000")
            .ends(1)
            .err()
            .startsWith("pipewright: does not fit: stage 0 needs "));
  }

  @ParameterizedTest(name = "{2} instead of {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | \"layers\": [0, | \"layers\": [1, | expected first layer 0, found 1",
        "1 | \"replicas\": 1 | \"replicas\": 2 | has replicas of stages, not of the pipeline",
        "2 | \"schedule\": \"pipedream\" | \"schedule\": \"1f1b\" | unknown key ",
        "2 | \"cluster\": | \"clusters\": | unknown key \"clusters\"",
        "2 | \"micro_batch\": 8 | \"micro_batch\": 4 | but global_batch says 8; make them agree",
        "2 | \"recompute\": \"none\" | \"recompute\": \"some\" | recompute",
      })
  void whatContradictsItselfIsRefused(int status, String good, String bad, String words) {
    String text = Cli.text(planned("pipedream"));
    assertTrue(text.contains(good.strip()), text);
    String file =
        Cli.file(
                folder,
                "bad.json",
                text.replaceFirst(
                    java.util.regex.Pattern.quote(good.strip()),
                    java.util.regex.Matcher.quoteReplacement(bad.strip())))
            .toString();
    Cli.contradicts(status, file, words);
  }

  @Test
  void aModelWithOtherLayersIsAMisfit() {
    Path plan = planned("pipedream");
    Path longer = Cli.file(folder, "longer.txt", Cli.graph(1, 1, 1, 1, 1, 1, 1));
    Cli check = Cli.run("check", plan.toString(), "--model", longer.toString()).ends(1);
    assertTrue(check.out().contains("has layers 0..6"), check.out());
    simulate(plan, "--model", longer.toString()).refusal(2, "has layers 0..6");
  }

  @Test
  void flagsOfTrainingStepsAreRefused() {
    Path plan = planned("pipedream");
    simulate(plan, "--jitter", "0.1").refusal(2, "--jitter: and --stragglers are for");
    simulate(plan, "--cost-model", "dapple").refusal(2, "--cost-model: is for training steps");
    Cli.plan(model, cluster, "--global-batch", "8", "--profile-batch", "2", "--evaluate", "" + plan)
        .refusal(2, "the schedule pipedream never flushes");
  }

  @Test
  void replicasThatNeverComeRoundAreRefused() {
    StringBuilder stages = new StringBuilder();
    int device = 0;
    int[] primes = {31, 29, 23, 19, 17};
    for (int s = 0; s < primes.length; s++) {
      List<Integer> devices = new ArrayList<>();
      for (int i = 0; i < primes[s]; i++) {
        devices.add(device++);
      }
      stages
          .append(s == 0 ? "" : ", ")
          .append("{\"layers\": [%d, %d], \"devices\": %s}".formatted(s, s == 4 ? 5 : s, devices));
    }
    Path file =
        Cli.file(
            folder,
            "primes.json",
            ("{\"schedule\": \"pipedream\", \"micro_batches\": 4, \"micro_batch\": 1,"
                    + " \"model\": \"%s\", \"stages\": [%s]}")
                .formatted(model, stages));
    Cli.run("check", file.toString(), "--cluster", "dapple-a:16x8", "--profile-batch", "2")
        .refusal(2, "take numbers of devices that divide each other");
  }
}

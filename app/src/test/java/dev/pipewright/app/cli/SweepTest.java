package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code plan --sweep}. */
class SweepTest {
  /** Eleven points: one whose flags contradict its batch, and one that no memory holds. */
  private static final String STUDY =
      """
      models: ["mlp:layers=6,hidden=64", "mlp:layers=12,hidden=128"]
      clusters:
        - dapple-a:1x2
        - {name: tiny, cluster: "dapple-a:1x4", flags: --memory 700k}
      batches: [8, 12]
      flags:
        - {name: default, flags: ""}
        - --planner straight --micro-batch 3
      exclude:
        - {model: "mlp:layers=6,hidden=64", cluster: tiny}
        - {batch: 8, cluster: tiny, flags: default}
      """;

  private static final int POINTS = 11;

  @TempDir private Path folder;
  private Path file = Path.of("");

  @BeforeEach
  void study() {
    file = Cli.file(folder, "study.yaml", STUDY);
  }

  private Cli sweep(String out, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of("plan", "--sweep", file.toString(), "--out", folder.resolve(out).toString()));
    args.addAll(List.of(more));
    return Cli.run(args.toArray(String[]::new));
  }

  private Path results(String out) {
    return folder.resolve(out).resolve("results.jsonl");
  }

  /** The table without the seconds that planning took. */
  private List<String> table(String out) {
    return Cli.text(folder.resolve(out).resolve("results.csv"))
        .lines()
        .map(line -> line.replaceFirst(",(planned|failed|nothing-fits),[^,]*", ",$1"))
        .toList();
  }

  private Set<String> lines(String out) {
    return new HashSet<>(Cli.text(results(out)).lines().toList());
  }

  @Test
  void eachPointHasTheAnswerThatThePlanCommandGives() {
    Cli run = sweep("out", "--json").ends(1);
    assertTrue(run.err().contains("3 points failed"), run.err());
    JsonNode all = run.json();
    assertEquals(POINTS, all.get("points").asInt());
    assertEquals(POINTS, all.get("results").size());
    assertEquals(3, all.get("failed").asInt());
    assertTrue(all.get("nothing_fits").asInt() >= 1, run.out());
    assertTrue(all.get("planned").asInt() >= 5, run.out());
    for (JsonNode point : all.get("results")) {
      List<String> more = new ArrayList<>();
      more.addAll(List.of("--global-batch", point.get("global_batch").toString(), "--json"));
      String flags = point.get("flags").asString();
      more.addAll(flags.isEmpty() ? List.of() : List.of(flags.split(" ")));
      Cli plan =
          Cli.plan(
              point.get("model").asString(),
              point.get("cluster").asString(),
              more.toArray(String[]::new));
      switch (point.get("status").asString()) {
        case "planned" -> {
          JsonNode answer = plan.ends(0).json();
          double value = answer.at("/objective/value").asDouble();
          assertEquals(value, point.get("value").asDouble(), 1e-12 * value);
          double step = answer.at("/simulated/step_s").asDouble();
          assertEquals(step, point.get("step_s").asDouble(), 1e-12 * step);
          assertEquals(answer.at("/plan/stages").size(), point.get("stages").asInt());
          assertEquals(answer.at("/plan/schedule"), point.get("schedule"));
          assertEquals(answer.get("samples_per_s"), point.get("samples_per_s"));
          assertEquals(answer.get("planner"), point.get("planner"));
        }
        case "nothing-fits" ->
            assertEquals(
                "pipewright: nothing fits: " + point.get("sentence").asString() + "\n",
                plan.ends(1).err());
        default ->
            assertEquals(
                "pipewright: " + point.get("sentence").asString() + "\n", plan.ends(2).err());
      }
    }
  }

  @Test
  void itWritesATableAndChartsAndTheSecondRunOnlyReads() {
    Cli first = sweep("out").ends(1);
    Set<String> written = lines("out");
    assertEquals(POINTS, written.size());
    assertEquals(POINTS + 1, table("out").size());
    for (String chart : List.of("step.svg", "throughput.svg")) {
      String svg = Cli.text(folder.resolve("out").resolve(chart));
      assertTrue(svg.startsWith("<svg ") && svg.contains("class=\"grid\""), svg);
    }
    Cli second = sweep("out").ends(1);
    assertTrue(second.err().contains("11 of 11 points have an answer already"), second.err());
    assertEquals(written, lines("out")); // with the seconds of the first run
    assertEquals(first.out(), second.out());
  }

  @Test
  void aCutFileIsCompletedAndNoPointIsPlannedTwice() throws IOException {
    sweep("out").ends(1);
    List<String> whole = table("out");
    String text = Files.readString(results("out"));
    int keep = text.indexOf('\n', text.length() / 2) + 1;
    Set<String> kept = new HashSet<>(text.substring(0, keep).lines().toList());
    Files.writeString(results("out"), text.substring(0, keep + 40));
    sweep("out", "--jobs", "1").ends(1);
    assertEquals(whole, table("out"));
    assertTrue(lines("out").containsAll(kept), "lines before the cut have changed");
    assertEquals(POINTS, lines("out").size());
  }

  @Test
  void threeShardsMergedAreTheWhole() {
    sweep("whole").ends(1);
    int points = 0;
    for (int shard = 1; shard <= 3; shard++) {
      sweep("parts", "--shard", shard + "/3");
      points += lines("parts/shard-" + shard + "-of-3").size();
    }
    assertEquals(POINTS, points);
    sweep("parts", "--merge").ends(1);
    assertEquals(table("whole"), table("parts"));
    assertEquals(POINTS, lines("parts").size());
  }

  @Test
  void aMissingShardIsSaidAndARunWithoutShardsGoesOn() throws IOException {
    sweep("parts", "--shard", "2/3");
    Cli merged = sweep("parts", "--merge").ends(1);
    assertTrue(merged.err().contains("7 points have no answer yet; "), merged.err());
    assertEquals(4, lines("parts").size());
    Cli rest = sweep("parts").ends(1);
    assertTrue(rest.err().contains("4 of 11 points have an answer already"), rest.err());
    sweep("parts", "--merge").ends(1);
    assertEquals(POINTS, lines("parts").size());
    Path shard = results("parts/shard-2-of-3");
    String changed = Files.readString(shard).replaceFirst("\"step_s\": ", "\"step_s\": 1");
    Files.writeString(shard, changed);
    sweep("parts", "--merge").refusal(2, "has another answer than in ", "shard-2-of-3");
    file = Cli.file(folder, "study.yaml", STUDY.replace("batches: [8, 12]", "batches: [8, 16]"));
    sweep("parts", "--merge").refusal(2, "is no point of ", "merge shards of one sweep");
  }

  @Test
  void pointsThatAreNoLongerInTheFileStayInTheLog() {
    sweep("out").ends(1);
    Cli.file(
        folder,
        "study.yaml",
        STUDY
            .replace(", \"mlp:layers=12,hidden=128\"]", "]")
            .replaceAll("(?s)  - \\{name: tiny.*?\n", "")
            .replaceAll("(?s)exclude:.*", ""));
    Cli fewer = sweep("out").ends(1);
    assertTrue(fewer.err().contains("7 lines of it are no points of "), fewer.err());
    assertEquals(POINTS, lines("out").size());
    assertEquals(5, table("out").size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --shard 0/3 | --shard: 0/3 is none of the shards 1/3 to 3/3, which count from 1; with Slurm take --array=1-3
          --shard 4/3 | --shard: 4/3 is none of the shards
          --shard 2 | --shard: '2' is no shard; write which of how many, like 2/8
          --shard 12/12 | --shard: the sweep has only 11 points; take fewer shards
          --jobs 0 | --jobs: 0 is no number of points to plan at a time; give 1 to 1024
          --merge --shard 1/3 | --merge: joins what shards have planned, and plans nothing; leave out --shard
          --merge | is no folder; name that of the sweep with --out
          bert-48 | --sweep: its file lists the models; leave out 'bert-48' here
          --recompute full | --recompute: does not go with --sweep; write it in the file
          --cluster dapple-a | --cluster: does not go with --sweep; write it in the file
          """)
  void flagsThatDoNotGoTogetherAreRefused(String more, String sentence) {
    sweep("out", more.split(" ", -1)).refusal(2, sentence);
    assertFalse(Files.exists(folder.resolve("out")));
  }

  @ParameterizedTest
  @CsvSource({"--shard=1/2", "--merge", "--jobs=2"})
  void flagsOfSweepsNeedOne(String flag) {
    Cli.plan("bert-48", "dapple-a", "--global-batch", "8", flag)
        .refusal(2, flag.split("=", -1)[0] + ": is for sweeps; add --sweep FILE.yaml");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --planner nonsense | study.yaml:8: --planner: unknown 'nonsense'
          --stagse 2 | study.yaml:8: unknown option '--stagse'
          --out here | study.yaml:8: --out: does not go with a point of a sweep; leave it out
          --planner pipedream | study.yaml:8: a sweep keeps plans of synchronous steps
          --objective throughput | study.yaml:8: a sweep keeps plans of synchronous steps
          vgg-16 | study.yaml:8: 'vgg-16' is one word too many
          """)
  void flagsInTheFileAreReadBeforeAnyPointIsPlanned(String flags, String sentence) {
    Cli.file(folder, "study.yaml", STUDY.replace("--planner straight --micro-batch 3", flags));
    sweep("out").refusal(2, sentence);
    assertFalse(Files.exists(folder.resolve("out")));
  }

  @Test
  void withoutAFolderItIsNamedAfterTheFile() {
    Cli.file(folder, "study.yaml", "models: []\n");
    Cli.run("plan", "--sweep", file.toString()).refusal(2, "study.yaml:1: models is empty");
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void anInterruptLeavesWholeLinesAndSaysHowToGoOn() throws IOException, InterruptedException {
    SearchDeadlineTest.assumeHeard("INT");
    StringBuilder batches = new StringBuilder();
    for (int batch = 8; batch <= 4096; batch += 8) {
      batches.append(batches.isEmpty() ? "" : ", ").append(batch);
    }
    Cli.file(
        folder, "study.yaml", STUDY.replace("[8, 12]", "[8, 12, " + batches.substring(3) + "]"));
    Process run =
        SearchDeadlineTest.start(
            MainProgram.class,
            "plan",
            "--sweep",
            file.toString(),
            "--out",
            folder.resolve("out").toString(),
            "--jobs",
            "2");
    StringBuilder said = new StringBuilder();
    try (var out = run.inputReader(StandardCharsets.UTF_8)) {
      String line = out.readLine();
      while (line != null && !line.startsWith("[4/")) {
        line = out.readLine();
      }
      new ProcessBuilder("kill", "-INT", Long.toString(run.pid())).start().waitFor();
      for (line = out.readLine(); line != null; line = out.readLine()) {
        said.append(line).append('\n');
      }
      assertEquals(130, run.waitFor());
    } finally {
      run.destroyForcibly();
    }
    assertTrue(
        Pattern.compile(
                "pipewright: interrupted: \\d+ of [\\d,]+ points have an answer, in \\S+; the same"
                    + " command goes on with the rest\n$")
            .matcher(said)
            .find(),
        said.toString());
    String text = Files.readString(results("out"));
    assertTrue(text.endsWith("}\n"), text);
    Set<String> keys = new TreeSet<>();
    for (String line : text.lines().toList()) {
      JsonNode point = new JsonMapper().readTree(line);
      keys.add(
          point.get("model")
              + " "
              + point.get("cluster")
              + point.get("global_batch")
              + point.get("flags"));
    }
    assertEquals(text.lines().count(), keys.size());
    assertTrue(keys.size() >= 4, text);
  }

  /** The command line as a program of its own. */
  static final class MainProgram {
    public static void main(String[] args) {
      Main.main(args);
    }
  }
}

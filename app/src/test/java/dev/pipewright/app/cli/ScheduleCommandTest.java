package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ScheduleCommandTest {
  @TempDir Path folder;

  private static Cli schedule(String name, int stages, int microBatches, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "schedule", name, "--stages", "" + stages, "--micro-batches", "" + microBatches));
    args.addAll(List.of(more));
    return Cli.run(args.toArray(new String[0]));
  }

  static List<String> names() {
    return List.copyOf(ScheduleNames.all());
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyScheduleRunsAndItsRanksDoAllWork(String name) {
    JsonNode answer = schedule(name, 4, 8, "--times", "1,1.5,0.5,0.25", "--json").ends(0).json();
    assertEquals(name, answer.get("schedule").asString());
    assertEquals(4, answer.get("stages").asInt());
    assertEquals(8, answer.get("micro_batches").asInt());
    double makespan = answer.get("makespan").asDouble();
    assertTrue(makespan >= 8 * 3, "less than the work of a rank: " + makespan);
    assertEquals(1 - 8 * 3 / makespan, answer.get("idle_share").asDouble(), 1e-9);
    assertEquals(4, answer.get("ranks").size());
    assertEquals(4, answer.get("peak_activations").size());
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyScheduleIsShown(String name) {
    Cli shown = schedule(name, 4, 8).ends(0);
    assertTrue(shown.out().startsWith(name + ": 4 ranks, 8 micro-batches\n"), shown.out());
    for (int rank = 0; rank < 4; rank++) {
      String head = rank + " │";
      assertEquals(2, shown.out().lines().filter(line -> line.startsWith(head)).count());
    }
    assertEquals("", shown.err());
  }

  @Test
  void oneForwardOneBackwardTakesItsClosedForm() {
    JsonNode answer = schedule("1f1b", 4, 8, "--json").ends(0).json();
    assertEquals(3 * (8 + 4 - 1), answer.get("makespan").asDouble());
    assertEquals("[4,3,2,1]", answer.get("peak_activations").toString());
  }

  @Test
  void timesMayDifferByStage() {
    JsonNode answer =
        schedule("gpipe", 2, 1, "--times", "1:2,3:4,5:6,0.5", "--json").ends(0).json();
    assertEquals(1 + 0.5 + 2 + 4 + 6 + 0.5 + 3 + 5, answer.get("makespan").asDouble());
  }

  @Test
  void chunksCutAStageIntoEqualParts() {
    JsonNode answer = schedule("interleaved", 4, 8, "--chunks", "3", "--json").ends(0).json();
    assertEquals(3 * 8 + 3 * (4 - 1) / 3.0, answer.get("makespan").asDouble(), 1e-9);
  }

  @Test
  void aCapThatIsExceededIsTheAnswerNo() {
    assertTrue(
        schedule("gpipe", 2, 4, "--memory-cap", "3")
            .ends(1)
            .err()
            .startsWith("pipewright: does not fit: rank 0 holds 4 activations, the cap is 3; "));
    schedule("1f1b", 2, 4, "--memory-cap", "2").ends(0);
  }

  @Test
  void filesAreWrittenAndWhatIsWrittenIsChecked() {
    Path csv = folder.resolve("s.csv");
    Path transfers = folder.resolve("t.csv");
    Path svg = folder.resolve("s.svg");
    for (int again = 0; again < 2; again++) { // over its own files
      schedule(
              "interleaved",
              4,
              8,
              "--csv",
              csv.toString(),
              "--csv-transfers",
              transfers.toString(),
              "--svg",
              svg.toString())
          .ends(0);
    }
    assertEquals(csv + ": can run\n", Cli.run("check", csv.toString()).ends(0).out());
    assertEquals(transfers + ": can run\n", Cli.run("check", transfers.toString()).ends(0).out());
    assertTrue(Cli.text(svg).startsWith("<svg"));
  }

  @Test
  void aFileOfSomebodyElseIsNotOverwritten() {
    Path notes = Cli.file(folder, "notes.csv", "milk,bread\n");
    schedule("1f1b", 2, 4, "--csv", notes.toString()).refusal(2, "--csv: ", "exists");
    schedule("1f1b", 2, 4, "--svg", notes.toString()).refusal(2, "--svg: ", "exists");
    assertEquals("milk,bread\n", Cli.text(notes));
    schedule("1f1b", 2, 4, "--csv", folder.toString()).refusal(2, "is a folder");
    schedule("1f1b", 2, 4, "--csv", folder.resolve("no/s.csv").toString())
        .refusal(2, "no folder that exists");
    Path twice = folder.resolve("s");
    schedule("1f1b", 2, 4, "--csv", twice.toString(), "--svg", twice.toString())
        .refusal(2, "name one file");
    assertTrue(Files.notExists(twice));
  }

  @Test
  void aFolderGetsEveryFormOfTheSchedule() {
    Path out = folder.resolve("new");
    for (int again = 0; again < 2; again++) { // over its own files
      String said = schedule("zb-v", 4, 8, "--out", out.toString()).ends(0).err();
      assertEquals(
          "wrote schedule.json, schedule.csv, schedule.svg, report.html, trace.json to "
              + out
              + "\n",
          said);
    }
    assertEquals(out + "/schedule.csv: can run\n", check(out.resolve("schedule.csv")));
    JsonNode json = new JsonMapper().readTree(Cli.text(out.resolve("schedule.json")));
    assertEquals("zb-v", json.get("schedule").asString());
    JsonNode trace = new JsonMapper().readTree(Cli.text(out.resolve("trace.json")));
    assertEquals("zb-v: 4 ranks, 8 micro-batches", trace.get("otherData").get("title").asString());
    assertTrue(Cli.text(out.resolve("report.html")).startsWith("<!DOCTYPE html>"));
    assertTrue(Cli.text(out.resolve("schedule.svg")).startsWith("<svg"));
  }

  private static String check(Path csv) {
    return Cli.run("check", csv.toString()).ends(0).out();
  }

  @Test
  void aFolderIsToldWhatItCannotHave() {
    Path out = folder.resolve("two");
    Cli run = schedule("chimera", 4, 8, "--out", out.toString()).ends(0);
    assertTrue(run.err().contains("left out schedule.csv: chimera runs two pipelines"), run.err());
    assertTrue(Files.notExists(out.resolve("schedule.csv")));
    Path large = folder.resolve("large");
    run = schedule("gpipe", 100, 400, "--out", large.toString()).ends(0);
    assertTrue(run.err().contains("left out schedule.svg: 80000 passes"), run.err());
    assertTrue(run.err().contains("left out report.html: 80000 passes"), run.err());
    assertTrue(Files.exists(large.resolve("trace.json")));
  }

  @Test
  void aFolderOfSomebodyElseKeepsItsFiles() {
    Path notes = Cli.file(folder, "report.html", "mine");
    schedule("1f1b", 2, 4, "--out", folder.toString()).refusal(2, "--out: ", "exists");
    assertEquals("mine", Cli.text(notes));
    assertTrue(Files.notExists(folder.resolve("schedule.svg")));
  }

  @Test
  void pagesAndTracesAreWrittenOverTheirOwnKindOnly() {
    Path html = folder.resolve("s.html");
    Path trace = folder.resolve("s.json");
    String[] both = {"--html", html.toString(), "--trace", trace.toString()};
    schedule("1f1b", 2, 4, both).ends(0);
    schedule("zb-h1", 2, 4, both).ends(0);
    assertTrue(Cli.text(html).contains("zb-h1"));
    schedule("1f1b", 2, 4, "--html", trace.toString()).refusal(2, "--html: ", "exists");
    schedule("1f1b", 2, 4, "--trace", html.toString()).refusal(2, "--trace: ", "exists");
  }

  @Test
  void othersAreComparedBeside() {
    String[] beside = {"--beside", "zb-h1,interleaved", "--chunks", "2"};
    JsonNode answer = schedule("interleaved-zb", 4, 8, with(beside, "--json")).ends(0).json();
    assertEquals("interleaved-zb", answer.get("schedule").asString());
    assertEquals(2, answer.get("beside").size());
    JsonNode alone = schedule("zb-h1", 4, 8, "--json").ends(0).json();
    JsonNode other = answer.get("beside").get(0);
    for (String key : List.of("schedule", "chunks", "makespan", "idle_share", "ranks")) {
      assertEquals(alone.get(key), other.get(key), key);
    }
    assertEquals(2, answer.get("beside").get(1).get("chunks").asInt());
    String shown = schedule("interleaved-zb", 4, 8, beside).ends(0).out();
    assertTrue(
        shown.startsWith("interleaved-zb, zb-h1, interleaved: 4 ranks, 8 micro-batches\n"), shown);
    assertEquals(6, shown.lines().filter(line -> line.startsWith("3 │")).count());
  }

  private static String[] with(String[] args, String more) {
    String[] all = Arrays.copyOf(args, args.length + 1);
    all[args.length] = more;
    return all;
  }

  @Test
  void whatCannotBeComparedIsSaid() {
    schedule("1f1b", 3, 6, "--beside", "dualpipe")
        .refusal(2, "--beside: dualpipe: ", "even number of ranks");
    schedule("1f1b", 3, 6, "--beside", "zbh1").refusal(2, "unknown schedule 'zbh1'");
    schedule("1f1b", 3, 6, "--beside", "").refusal(2, "unknown schedule ''");
  }

  @Test
  void overlappedPairsTakeAsLongAsTheLongest() {
    double summed = makespan();
    double overlapped = makespan("--overlap");
    assertTrue(overlapped < summed, overlapped + " < " + summed);
    assertTrue(
        schedule("dualpipe", 4, 8, "--overlap")
            .out()
            .contains("transfer 0, ops together as long as the longest\n"));
    JsonNode plain = schedule("1f1b", 4, 8, "--overlap", "--json").json();
    assertEquals(33, plain.get("makespan").asDouble());
  }

  @Test
  void forwardPassesRunAgainWhereAsked() {
    JsonNode answer = schedule("gpipe", 2, 1, "--recompute", "1", "--json").ends(0).json();
    assertEquals(1 + 1 + 1 + 2 + 2, answer.get("makespan").asDouble());
    assertTrue(schedule("gpipe", 2, 1, "--recompute", "all").out().contains("R forward again"));
    schedule("gpipe", 2, 1, "--recompute", "2").refusal(2, "--recompute: '2' names no stages");
  }

  @Test
  void transfersMayDifferByCut() {
    JsonNode answer = schedule("gpipe", 3, 1, "--times", "1,1,1,0.5:2", "--json").ends(0).json();
    assertEquals(3 * 3 + 2 * (0.5 + 2), answer.get("makespan").asDouble());
  }

  @Test
  void updatesAndExchangesTakeTheTimeOfAStep() {
    String[] steps = {"--step-times", "1,4,0,0"};
    double without = schedule("dp", 2, 2, "--json").json().get("makespan").asDouble();
    double with = schedule("dp", 2, 2, with(steps, "--json")).json().get("makespan").asDouble();
    // Adding up the second stage's gradients (4) outlasts the first stage's backward pass (2).
    assertEquals(without + 4 + 2 + 1, with, "" + without);
    String shown = schedule("dp", 2, 2, steps).ends(0).out();
    assertTrue(shown.contains("transfer 0, update 1, adding up 4\n"), shown);
    schedule("dp", 2, 2, "--step-times", "1,2,3").refusal(2, "--step-times: '1,2,3' holds 3");
    schedule("dp", 2, 2, "--step-times", "1,-2,3,4").refusal(2, "--step-times: '-2' is no time");
  }

  private static double makespan(String... more) {
    return schedule("dualpipe", 4, 8, with(more, "--json")).json().get("makespan").asDouble();
  }

  @Test
  void aCheckedScheduleSaysWhereItFails() {
    Path csv = Cli.file(folder, "bad.csv", "0F0,0B0\n1B0,1F0\n");
    assertTrue(Cli.run("check", csv.toString()).ends(1).out().startsWith(csv + ":2:1: rank 1 "));
    JsonNode answer = Cli.run("check", csv.toString(), "--json").ends(1).json();
    assertEquals("false", answer.get("valid").toString());
    assertEquals(1, answer.get("problems").size());
    Path unknown = Cli.file(folder, "unknown.csv", "0F0,0Q0\n");
    Cli.run("check", unknown.toString())
        .refusal(2, "unknown.csv:1:5: unknown action 'Q' in '0Q0'; ");
    Cli.run("check", folder.resolve("none.csv").toString()).refusal(2, "no such file");
  }

  @Test
  void anUnknownNameIsAnsweredByTheNearest() {
    schedule("1f1d", 2, 4).refusal(2, "unknown schedule '1f1d'; did you mean \"1f1b\"?");
    schedule("round-robin-of-everything", 2, 4).refusal(2, "one of gpipe, 1f1b");
  }

  @Test
  void numbersThatMakeNoScheduleAreRefused() {
    schedule("1f1b", 0, 4).refusal(2, "--stages: '0'");
    schedule("1f1b", 4, -1).refusal(2, "--micro-batches: '-1'");
    schedule("1f1b", 2, 2_000_000_000).refusal(2, "more than can be shown");
    schedule("1f1b", 2, 4, "--memory-cap", "0.5").refusal(2, "--memory-cap: '0.5'");
    schedule("1f1b", 2, 4, "--memory-cap", "NaN").refusal(2, "--memory-cap: 'NaN'");
    schedule("1f1b", 2, 4, "--chunks", "2").refusal(2, "--chunks: 1f1b runs 1 on each rank, not 2");
    schedule("hanayo", 2, 4, "--chunks", "3").refusal(2, "--chunks: hanayo");
    schedule("dualpipe", 3, 6).refusal(2, "even number of ranks", "ranks=3");
    schedule("dualpipev", 4, 4).refusal(2, "micro_batches=4");
  }

  @Test
  void timesThatAreNoneAreRefused() {
    schedule("1f1b", 2, 4, "--times", "1,-1,1,0").refusal(2, "--times: B=-1 is no time");
    schedule("1f1b", 2, 4, "--times", "1,1,NaN,0").refusal(2, "--times: W=NaN is no time");
    schedule("1f1b", 2, 4, "--times", "1,1").refusal(2, "--times: '1,1' holds 2 values");
    schedule("1f1b", 2, 4, "--times", "1:2:3,1,1,0").refusal(2, "--times: F=1:2:3 holds 3 values");
    schedule("1f1b", 2, 4, "--times", "1,1,1,0:1").refusal(2, "--times: comm=0:1");
    schedule("1f1b", 2, 4, "--times", "1,1,1,0:1:2").refusal(2, "--times: comm=0:1:2");
    schedule("1f1b", 2, 4, "--times", "0,0,0,0").refusal(2, "--times: ", "0,0,0,0");
  }

  @Test
  void twoPipelinesAtOnceAreNoFileOfPyTorch() {
    Path csv = folder.resolve("s.csv");
    schedule("chimera", 2, 4, "--csv", csv.toString()).refusal(2, "take dualpipev");
    assertTrue(Files.notExists(csv));
  }

  @Test
  void theOptimumIsProvenAndSaysSo() {
    Cli run = schedule("optimal", 3, 4, "--memory-cap", "3", "--json").ends(0);
    JsonNode answer = run.json();
    assertEquals(14, answer.get("makespan").asDouble()); // 3m + p − 1, as ZB-H1
    assertEquals(14, answer.get("lower_bound").asDouble());
    assertTrue(answer.get("optimal").asBoolean());
    assertEquals("", run.err());
    String words = schedule("optimal", 3, 4, "--memory-cap", "3").ends(0).out();
    assertTrue(
        words.endsWith("optimal: proven, no order within the cap takes less than 14\n"), words);
    assertFalse(schedule("1f1b", 3, 4, "--json").ends(0).json().has("lower_bound"));
  }

  @Test
  void conditionsChangeTheRunAndAreStated() {
    double plain = schedule("1f1b", 4, 8, "--json").ends(0).json().get("makespan").asDouble();
    for (String[] flags :
        new String[][] {{"--slow", "1:2"}, {"--transfers", "blocking", "--times", "1,1,1,0.5"}}) {
      List<String> more = new ArrayList<>(List.of(flags));
      more.add("--json");
      Cli run = schedule("1f1b", 4, 8, more.toArray(new String[0])).ends(0);
      assertTrue(run.json().get("makespan").asDouble() > plain);
      String words = schedule("1f1b", 4, 8, flags).ends(0).out();
      assertTrue(words.contains(flags[1]), words);
    }
    Cli jitter = schedule("zb-h1", 4, 8, "--jitter", "0.1", "--runs", "20").ends(0);
    assertTrue(jitter.out().contains("zb-h1 with jitter: median "), jitter.out());
    JsonNode answer = schedule("zb-h1", 4, 8, "--jitter", "0.1", "--json").ends(0).json();
    assertEquals(200, answer.at("/jitter/runs").asInt());
    assertTrue(answer.at("/jitter/p95_s").asDouble() > answer.at("/jitter/median_s").asDouble());
    schedule("1f1b", 4, 8, "--slow", "4:2").refusal(2, "there is no rank 4");
  }

  @Test
  void messagesBetweenMachinesShareTheirPorts() {
    double apart = shared("4"); // inside a machine, on links of their own
    assertTrue(apart >= 8 * 3);
    assertTrue(shared("1") > apart); // activations and gradients leave a rank by one port
  }

  private static double shared(String perMachine) {
    String[] flags = {"--times", "1,1,1,2", "--transfers", "shared", "--per-machine", perMachine};
    List<String> more = new ArrayList<>(List.of(flags));
    more.add("--json");
    Cli run = schedule("1f1b", 4, 8, more.toArray(new String[0])).ends(0);
    return run.json().get("makespan").asDouble();
  }

  @Test
  void ranksThatWouldWaitForEverAreRefused() {
    schedule("cyclic-v1", 4, 4, "--transfers", "blocking")
        .refusal(2, "cyclic-v1 cannot run so", "take transfers that block nobody");
    schedule("cyclic-v1", 4, 4, "--transfers", "queued").ends(0);
  }

  @Test
  void chunksGoToThoseThatAllowThem() {
    Cli run = schedule("1f1b", 4, 8, "--beside", "interleaved", "--chunks", "3", "--json").ends(0);
    assertEquals(1, run.json().get("chunks").asInt());
    assertEquals(3, run.json().at("/beside/0/chunks").asInt());
  }

  @Test
  void whatIsTooMuchForTheSolverIsRefused() {
    schedule("optimal", 40, 40).refusal(2, "more than optimal can search", "zb-auto");
    schedule("optimal", 2, 3, "--times", "1,0.3333333333333,1.4142135623730951,0")
        .refusal(2, "one tick");
    schedule("optimal", 2, 3, "--time-limit", "-1").refusal(2, "--time-limit: '-1'");
  }

  @RepeatedTest(100)
  void anyRequestIsAnsweredOrRefusedInASentence(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    String name = names().get(random.nextInt(names().size()));
    List<String> more = new ArrayList<>(List.of("--time-limit", "0.5"));
    if (random.nextBoolean()) {
      more.addAll(List.of("--chunks", "" + random.nextInt(1, 5)));
    }
    if (random.nextBoolean()) {
      more.addAll(List.of("--memory-cap", "" + random.nextDouble(1, 9)));
    }
    if (random.nextBoolean()) {
      more.addAll(List.of("--times", random.nextInt(3) + ",1," + random.nextDouble() + ",0.1"));
    }
    int stages = random.nextInt(1, 9);
    Cli run = schedule(name, stages, random.nextInt(1, 20), more.toArray(new String[0]));
    assertTrue(run.status() <= 2, run.err());
    if (run.status() == 2) {
      run.refusal(2);
    }
  }
}

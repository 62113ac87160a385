package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.schedule.ScheduleNames;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

  static List<String> names() {
    return List.copyOf(ScheduleNames.all());
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyScheduleRunsAndItsRanksDoAllWork(String name) {
    JsonNode answer =
        Cli.schedule(name, 4, 8, "--times", "1,1.5,0.5,0.25", "--json").ends(0).json();
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
    Cli shown = Cli.schedule(name, 4, 8).ends(0);
    assertTrue(shown.out().startsWith(name + ": 4 ranks, 8 micro-batches\n"), shown.out());
    for (int rank = 0; rank < 4; rank++) {
      String head = rank + " │";
      assertEquals(2, shown.out().lines().filter(line -> line.startsWith(head)).count());
    }
    assertEquals("", shown.err());
  }

  @Test
  void oneForwardOneBackwardTakesItsClosedForm() {
    JsonNode answer = Cli.schedule("1f1b", 4, 8, "--json").ends(0).json();
    assertEquals(3 * (8 + 4 - 1), answer.get("makespan").asDouble());
    assertEquals("[4,3,2,1]", answer.get("peak_activations").toString());
  }

  @Test
  void timesMayDifferByStage() {
    JsonNode answer =
        Cli.schedule("gpipe", 2, 1, "--times", "1:2,3:4,5:6,0.5", "--json").ends(0).json();
    assertEquals(1 + 0.5 + 2 + 4 + 6 + 0.5 + 3 + 5, answer.get("makespan").asDouble());
  }

  @Test
  void chunksCutAStageIntoEqualParts() {
    JsonNode answer = Cli.schedule("interleaved", 4, 8, "--chunks", "3", "--json").ends(0).json();
    assertEquals(3 * 8 + 3 * (4 - 1) / 3.0, answer.get("makespan").asDouble(), 1e-9);
  }

  @Test
  void aCapThatIsExceededIsTheAnswerNo() {
    assertTrue(
        Cli.schedule("gpipe", 2, 4, "--memory-cap", "3")
            .ends(1)
            .err()
            .startsWith("pipewright: does not fit: rank 0 holds 4 activations, the cap is 3; "));
    Cli.schedule("1f1b", 2, 4, "--memory-cap", "2").ends(0);
  }

  @Test
  void filesAreWrittenAndWhatIsWrittenIsChecked() {
    Path csv = folder.resolve("s.csv");
    Path transfers = folder.resolve("t.csv");
    Path svg = folder.resolve("s.svg");
    for (int again = 0; again < 2; again++) { // over its own files
      Cli.schedule(
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
    assertTrue(check(csv).startsWith(csv + ": can run: "));
    assertTrue(check(transfers).startsWith(transfers + ": can run: "));
    assertTrue(Cli.text(svg).startsWith("<svg"));
  }

  @Test
  void aFigureIsNamedAsSvg() {
    Path image = folder.resolve("s.png");
    Cli.schedule("1f1b", 2, 4, "--svg", image.toString())
        .refusal(2, "--svg: " + image + " ends in .png", "; name it " + folder.resolve("s.svg"));
    assertTrue(Files.notExists(image));
    Path upper = folder.resolve("S.SVG");
    Cli.schedule("1f1b", 2, 4, "--svg", upper.toString()).ends(0);
    assertTrue(Files.exists(upper));
  }

  @Test
  void aFileOfSomebodyElseIsNotOverwritten() {
    Path notes = Cli.file(folder, "notes.csv", "milk,bread\n");
    Cli.schedule("1f1b", 2, 4, "--csv", notes.toString()).refusal(2, "--csv: ", "exists");
    Cli.schedule("1f1b", 2, 4, "--svg", notes.toString()).refusal(2, "--svg: ", "exists");
    assertEquals("milk,bread\n", Cli.text(notes));
    Cli.schedule("1f1b", 2, 4, "--csv", folder.toString()).refusal(2, "is a folder");
    Cli.schedule("1f1b", 2, 4, "--csv", folder.resolve("no/s.csv").toString())
        .refusal(2, "no folder that exists");
    Path twice = folder.resolve("s");
    Cli.schedule("1f1b", 2, 4, "--csv", twice.toString(), "--svg", twice.toString())
        .refusal(2, "name one file");
    assertTrue(Files.notExists(twice));
  }

  @Test
  void aFolderGetsEveryFormOfTheSchedule() {
    Path out = folder.resolve("new");
    for (int again = 0; again < 2; again++) { // over its own files
      String said = Cli.schedule("zb-v", 4, 8, "--out", out.toString()).ends(0).err();
      assertEquals(
          "wrote schedule.json, schedule.csv, schedule.svg, report.html, trace.json to "
              + out
              + "\n",
          said);
    }
    assertTrue(check(out.resolve("schedule.csv")).startsWith(out + "/schedule.csv: can run: "));
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
    Cli run = Cli.schedule("chimera", 4, 8, "--out", out.toString()).ends(0);
    assertTrue(run.err().contains("left out schedule.csv: chimera runs two pipelines"), run.err());
    assertTrue(Files.notExists(out.resolve("schedule.csv")));
    Path large = folder.resolve("large");
    run = Cli.schedule("gpipe", 100, 400, "--out", large.toString()).ends(0);
    assertTrue(run.err().contains("left out schedule.svg: 80000 passes"), run.err());
    assertTrue(Files.exists(large.resolve("report.html")), run.err()); // drawn by a script
    assertTrue(Files.exists(large.resolve("trace.json")));
  }

  @Test
  void aFolderOfSomebodyElseKeepsItsFiles() {
    Path notes = Cli.file(folder, "report.html", "mine");
    Cli.schedule("1f1b", 2, 4, "--out", folder.toString()).refusal(2, "--out: ", "exists");
    assertEquals("mine", Cli.text(notes));
    assertTrue(Files.notExists(folder.resolve("schedule.svg")));
  }

  @Test
  void pagesAndTracesAreWrittenOverTheirOwnKindOnly() {
    Path html = folder.resolve("s.html");
    Path trace = folder.resolve("s.json");
    String[] both = {"--html", html.toString(), "--trace", trace.toString()};
    Cli.schedule("1f1b", 2, 4, both).ends(0);
    Cli.schedule("zb-h1", 2, 4, both).ends(0);
    assertTrue(Cli.text(html).contains("zb-h1"));
    Cli.schedule("1f1b", 2, 4, "--html", trace.toString()).refusal(2, "--html: ", "exists");
    Cli.schedule("1f1b", 2, 4, "--trace", html.toString()).refusal(2, "--trace: ", "exists");
  }

  @Test
  void othersAreComparedBeside() {
    String[] beside = {"--beside", "zb-h1,interleaved", "--chunks", "2"};
    JsonNode answer =
        Cli.schedule("interleaved-zb", 4, 8, Cli.with(beside, "--json")).ends(0).json();
    assertEquals("interleaved-zb", answer.get("schedule").asString());
    assertEquals(2, answer.get("beside").size());
    JsonNode alone = Cli.schedule("zb-h1", 4, 8, "--json").ends(0).json();
    JsonNode other = answer.get("beside").get(0);
    for (String key : List.of("schedule", "chunks", "makespan", "idle_share", "ranks")) {
      assertEquals(alone.get(key), other.get(key), key);
    }
    assertEquals(2, answer.get("beside").get(1).get("chunks").asInt());
    String shown = Cli.schedule("interleaved-zb", 4, 8, beside).ends(0).out();
    assertTrue(
        shown.startsWith("interleaved-zb, zb-h1, interleaved: 4 ranks, 8 micro-batches\n"), shown);
    assertEquals(6, shown.lines().filter(line -> line.startsWith("3 │")).count());
  }

  @Test
  void whatCannotBeComparedIsSaid() {
    Cli.schedule("1f1b", 3, 6, "--beside", "dualpipe")
        .refusal(2, "--beside: dualpipe: ", "even number of ranks");
    Cli.schedule("1f1b", 3, 6, "--beside", "zbh1").refusal(2, "unknown schedule 'zbh1'");
    Cli.schedule("1f1b", 3, 6, "--beside", "").refusal(2, "unknown schedule ''");
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
    Cli.schedule("1f1d", 2, 4).refusal(2, "unknown schedule '1f1d'; did you mean \"1f1b\"?");
    Cli.schedule("round-robin-of-everything", 2, 4).refusal(2, "one of gpipe, 1f1b");
  }

  @Test
  void numbersThatMakeNoScheduleAreRefused() {
    Cli.schedule("1f1b", 0, 4).refusal(2, "--stages: '0'");
    Cli.schedule("1f1b", 4, -1).refusal(2, "--micro-batches: '-1'");
    Cli.schedule("1f1b", 2, 2_000_000_000).refusal(2, "give at most 1048576");
    Cli.schedule("1f1b", 2, 1_000_000).refusal(2, "more than can be shown");
    Cli.schedule("1f1b", 2, 4, "--memory-cap", "0.5").refusal(2, "--memory-cap: '0.5'");
    Cli.schedule("1f1b", 2, 4, "--memory-cap", "NaN").refusal(2, "--memory-cap: 'NaN'");
    Cli.schedule("1f1b", 2, 4, "--chunks", "2")
        .refusal(2, "--chunks: 1f1b runs 1 on each rank, not 2");
    Cli.schedule("hanayo", 2, 4, "--chunks", "3").refusal(2, "--chunks: hanayo");
    Cli.schedule("dualpipe", 3, 6).refusal(2, "even number of ranks", "ranks=3");
    Cli.schedule("dualpipev", 4, 4).refusal(2, "micro_batches=4");
  }

  @Test
  void timesThatAreNoneAreRefused() {
    Cli.schedule("1f1b", 2, 4, "--times", "1,-1,1,0").refusal(2, "--times: B=-1 is no time");
    Cli.schedule("1f1b", 2, 4, "--times", "1,1,NaN,0").refusal(2, "--times: W=NaN is no time");
    Cli.schedule("1f1b", 2, 4, "--times", "1,1").refusal(2, "--times: '1,1' holds 2 values");
    Cli.schedule("1f1b", 2, 4, "--times", "1:2:3,1,1,0")
        .refusal(2, "--times: F=1:2:3 holds 3 values");
    Cli.schedule("1f1b", 2, 4, "--times", "1,1,1,0:1").refusal(2, "--times: comm=0:1");
    Cli.schedule("1f1b", 2, 4, "--times", "1,1,1,0:1:2").refusal(2, "--times: comm=0:1:2");
    Cli.schedule("1f1b", 2, 4, "--times", "0,0,0,0").refusal(2, "--times: ", "0,0,0,0");
  }

  @Test
  void twoPipelinesAtOnceAreNoFileOfPyTorch() {
    Path csv = folder.resolve("s.csv");
    Cli.schedule("chimera", 2, 4, "--csv", csv.toString()).refusal(2, "take dualpipev");
    assertTrue(Files.notExists(csv));
  }

  @Test
  void theOptimumIsProvenAndSaysSo() {
    Cli run = Cli.schedule("optimal", 3, 4, "--memory-cap", "3", "--json").ends(0);
    JsonNode answer = run.json();
    assertEquals(14, answer.get("makespan").asDouble()); // 3m + p − 1, as ZB-H1
    assertEquals(14, answer.get("lower_bound").asDouble());
    assertTrue(answer.get("optimal").asBoolean());
    assertEquals("", run.err());
    String words = Cli.schedule("optimal", 3, 4, "--memory-cap", "3").ends(0).out();
    assertTrue(
        words.endsWith("optimal: proven, no order within the cap takes less than 14\n"), words);
    assertFalse(Cli.schedule("1f1b", 3, 4, "--json").ends(0).json().has("lower_bound"));
  }

  @Test
  void chunksGoToThoseThatAllowThem() {
    Cli run =
        Cli.schedule("1f1b", 4, 8, "--beside", "interleaved", "--chunks", "3", "--json").ends(0);
    assertEquals(1, run.json().get("chunks").asInt());
    assertEquals(3, run.json().at("/beside/0/chunks").asInt());
  }

  @Test
  void whatIsTooMuchForTheSolverIsRefused() {
    Cli.schedule("optimal", 40, 40).refusal(2, "more than optimal can search", "zb-auto");
    Cli.schedule("optimal", 2, 3, "--times", "1,0.3333333333333,1.4142135623730951,0")
        .refusal(2, "one tick");
    Cli.schedule("optimal", 2, 3, "--time-limit", "-1").refusal(2, "--time-limit: '-1'");
  }

  @RepeatedTest(100)
  void anyRequestIsAnsweredOrRefusedInASentence(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    String name = names().get(random.nextInt(names().size()));
    List<String> more = new ArrayList<>();
    if (name.equals("optimal")) {
      more.addAll(List.of("--time-limit", "0.5"));
    }
    if (random.nextBoolean()) {
      more.addAll(List.of("--chunks", "" + random.nextInt(1, 5)));
    }
    if (random.nextBoolean()) {
      double one = random.nextDouble(1, 9);
      String other = random.nextBoolean() ? ":" + random.nextDouble(1, 9) : "";
      more.addAll(List.of("--memory-cap", one + other));
    }
    if (random.nextInt(4) == 0) {
      more.addAll(List.of("--replicas", "1:2:3:4".substring(0, random.nextInt(8))));
    }
    if (random.nextBoolean()) {
      more.addAll(List.of("--times", random.nextInt(3) + ",1," + random.nextDouble() + ",0.1"));
    }
    int stages = random.nextInt(1, 9);
    Cli run = Cli.schedule(name, stages, random.nextInt(1, 20), more.toArray(new String[0]));
    assertTrue(run.status() <= 2, run.err());
    if (run.status() == 2) {
      run.refusal(2);
    }
  }
}

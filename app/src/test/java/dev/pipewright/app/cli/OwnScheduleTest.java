package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Schedules from files in place of names. */
class OwnScheduleTest {
  /** Two ranks, four stages there and back, ranks of unequal length, one backward pass whole. */
  private static final String V =
      """
      0F0,0F1,,3F0,3I0,3W0,3F1,3B1,0B0,0I1,0W1
      ,1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1
      """;

  @TempDir private Path folder;

  private String csv(String text) {
    return Cli.file(folder, "mine.csv", text).toString();
  }

  private static Cli run(String... args) {
    return Cli.run(args);
  }

  private static JsonNode json(String... args) {
    return Cli.run(Cli.with(args, "--json")).ends(0).json();
  }

  private static double makespan(String... args) {
    return json(args).get("makespan").asDouble();
  }

  /** The file of a schedule by name, in PyTorch's form or ours. */
  private String written(String form, String name, int stages, int microBatches, String... more) {
    Path file = folder.resolve(name + form);
    String[] args = more;
    if (form.equals(".json")) {
      Cli.file(
          folder,
          name + form,
          Cli.schedule(name, stages, microBatches, Cli.with(args, "--json")).ends(0).out());
    } else {
      String option = form.equals(".csv") ? "--csv" : "--csv-transfers";
      Cli.schedule(name, stages, microBatches, Cli.with(Cli.with(args, option), file.toString()))
          .ends(0);
    }
    return file.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "1f1b, 4, 8, 1, .csv", "zb-h1, 4, 8, 1, .json", "interleaved, 4, 8, 2, .transfers.csv",
    "dualpipev, 4, 10, 2, .csv", "zb-v, 4, 8, 2, .json", "dualpipe, 4, 10, 1, .json",
    "chimera, 4, 8, 1, .json", "hanayo, 4, 8, 2, .csv", "cyclic-v1, 4, 8, 1, .json"
  })
  void whatWasWrittenRunsAsTheScheduleItself(
      String name, int stages, int microBatches, int chunks, String form) {
    String file = written(form, name, stages, microBatches);
    JsonNode made = Cli.schedule(name, stages, microBatches, "--json").ends(0).json();
    for (String command : List.of("schedule", "simulate")) {
      JsonNode read = json(command, file, "--times", "1,1,1,0");
      assertEquals(chunks * made.get("makespan").asDouble(), read.get("makespan").asDouble(), 1e-9);
      assertEquals(made.get("idle_share").asDouble(), read.get("idle_share").asDouble(), 1e-9);
      assertEquals(made.get("peak_activations"), read.get("peak_activations"));
      assertEquals(made.get("placement"), read.get("placement"));
    }
    String beside = Cli.schedule(name, stages, microBatches, "--beside", file).ends(0).out();
    assertTrue(beside.contains("+0.0 %"), beside); // for shares of the ranks, as the name counts
  }

  @Test
  void anyPlacementAndUnequalRanksAreTimed() {
    JsonNode answer = json("schedule", csv(V), "--times", "1,1,1,0");
    assertEquals(4, answer.at("/placement/0").size());
    assertEquals(0, answer.at("/placement/0/3").asInt());
    // The path of micro-batch 0 there and back, and what the second rank still has to do.
    double first = 4 + 1 + 2 + 2;
    assertTrue(answer.get("makespan").asDouble() >= first, answer.toString());
    assertEquals(2, answer.get("chunks").asInt());
    assertEquals(1.5, answer.at("/peak_activations/0").asDouble());
    double slower = makespan("schedule", csv(V), "--times", "1:1:1:3,1,1,0");
    assertTrue(slower >= answer.get("makespan").asDouble() + 2 * 2, "" + slower);
  }

  @Test
  void timesCountStagesAsTheFileNumbersThem() {
    String file = written(".csv", "interleaved", 2, 4);
    double chunk = makespan("schedule", file, "--times", "1,1,1,0");
    assertEquals(2 * chunk, makespan("schedule", file, "--times", "2:2:2:2,2,2,0"));
    run("schedule", file, "--times", "1:1,1,1,0").refusal(2, "holds 2 values for 4 stages");
    assertTrue(makespan("schedule", file, "--times", "1,1,1,0.5:0:0.5") > chunk);
  }

  @Test
  void recordedTimesAreShownAsTheyAre() {
    String file = written(".json", "zb-h1", 4, 8, "--times", "1,1.25,0.75,0.5");
    JsonNode stated = Cli.run("schedule", file, "--json").ends(0).json();
    JsonNode original = Cli.schedule("zb-h1", 4, 8, "--times", "1,1.25,0.75,0.5", "--json").json();
    assertEquals(original.get("makespan"), stated.get("makespan"));
    assertEquals(original.get("ranks"), stated.get("ranks"));
    assertTrue(run("simulate", file).ends(0).out().contains("as recorded in zb-h1.json"));
    run("simulate", file, "--slow", "1:2").refusal(2, "cannot run in another way", "add --times");
    run("schedule", file, "--recompute", "all").refusal(2, "--recompute: ", "add --times");
    assertEquals(
        Cli.schedule("zb-h1", 4, 8, "--times", "1,1,0,0", "--json").json().get("makespan"),
        json("schedule", file, "--times", "1,1,0,0").get("makespan"));
  }

  @Test
  void othersAreComparedForTheSameWork() {
    String file = written(".csv", "interleaved", 4, 8);
    JsonNode answer = json("schedule", file, "--times", "1,1,1,0", "--beside", "1f1b,interleaved");
    assertEquals(2.0 * 33, answer.at("/beside/0/makespan").asDouble()); // two stages of the file
    assertEquals(answer.get("makespan"), answer.at("/beside/1/makespan"));
    String uneven = "1:1:1:1:2:1:1:1,1,1,0";
    JsonNode stages = json("schedule", file, "--times", uneven, "--beside", "1f1b,gpipe");
    assertEquals(
        Cli.schedule("1f1b", 4, 8, "--times", "3:2:2:2,2,2,0", "--json").json().get("makespan"),
        stages.at("/beside/0/makespan"));
    String other = written(".json", "zb-h1", 4, 8);
    JsonNode files = json("schedule", file, "--times", "1,1,1,0", "--beside", other);
    assertEquals(
        2 * Cli.schedule("zb-h1", 4, 8, "--json").json().get("makespan").asDouble(),
        files.at("/beside/0/makespan").asDouble());
    Cli.schedule("1f1b", 4, 9, "--beside", file)
        .refusal(2, "--beside: ", "has 4 ranks and 8 micro-batches", "compare what has the same");
    run("schedule", file, "--stages", "3").refusal(2, "--stages: ", "has 4 ranks, not 3");
    run("schedule", file, "--stages", "4", "--micro-batches", "8").ends(0);
  }

  @Test
  void everyOptionOfASchedulesRunHoldsForAFile() {
    String file = written(".csv", "1f1b", 4, 8);
    assertEquals((8 + 3) * 4, makespan("schedule", file, "--recompute", "all"));
    assertEquals(
        Cli.schedule("1f1b", 4, 8, "--recompute", "1", "--json").json().get("makespan").asDouble(),
        makespan("schedule", file, "--recompute", "1"));
    for (String flags : List.of("--slow 1:2", "--transfers queued", "--look-ahead 2")) {
      List<String> args = new ArrayList<>(List.of("schedule", file, "--times", "1,1,1,0.25"));
      args.addAll(Arrays.asList(flags.split(" ")));
      List<String> named = new ArrayList<>(List.of("--times", "1,1,1,0.25"));
      named.addAll(Arrays.asList(flags.split(" ")));
      named.add("--json");
      assertEquals(
          Cli.schedule("1f1b", 4, 8, named.toArray(new String[0]))
              .json()
              .get("makespan")
              .asDouble(),
          makespan(args.toArray(new String[0])));
    }
    Cli capped = run("schedule", file, "--memory-cap", "3").ends(1);
    assertTrue(capped.err().contains("rank 0 holds 4 activations"), capped.err());
    Path out = folder.resolve("out");
    run("simulate", file, "--out", out.toString()).ends(0);
    for (String each :
        List.of("schedule.json", "schedule.svg", "report.html", "trace.json", "schedule.csv")) {
      assertTrue(Files.exists(out.resolve(each)), each);
    }
    assertEquals(Cli.text(Path.of(file)), Cli.text(out.resolve("schedule.csv")));
  }

  @Test
  void aFileThatCannotRunIsRefusedWithItsPlace() {
    String twice = csv("0F0,0F0,0B0\n1F0,1B0\n");
    run("schedule", twice).refusal(2, "mine.csv:1:5: rank 0 runs F0 of stage 0 again; see all");
    run("simulate", twice).refusal(2, "mine.csv:1:5: ");
    run("schedule", "none.csv").refusal(2, "none.csv");
    run("schedule", "zb-h7").refusal(2, "unknown schedule 'zb-h7'");
    run("schedule", csv("0F0,0Q0\n")).refusal(2, "mine.csv:1:5: unknown action 'Q'");
    run("simulate", csv(V), "--model", "bert-48").refusal(2, "--model: is for plans");
    run("schedule", csv(V), "--chunks", "2").refusal(2, "--chunks: ");
    run("schedule", "1f1b", "--stages", "2")
        .refusal(2, "--micro-batches is missing; write `pipewright schedule 1f1b");
    String plan = Cli.file(folder, "plan.json", Cli.plan()).toString();
    run("schedule", plan).refusal(2, "is a plan, not a schedule", "simulate");
    run("simulate", plan, "--times", "1,1,1,0").refusal(2, "--times: is for schedules");
  }

  @Test
  void lettersOfOlderPyTorchAreSeenByContent() {
    String older = "0F0,1F0,1B0,0B0,1W0,0W0,0F1,1F1,1BW1,0BW1\n";
    JsonNode check = json("check", csv(older));
    assertTrue(check.get("valid").asBoolean());
    assertEquals("older", check.get("letters").asString());
    assertTrue(run("check", csv(older)).out().contains("B is the gradient of the input (now I)"));
    assertEquals(2 * 2 * 3, makespan("schedule", csv(older), "--times", "1,1,1,0"));
    String halves = older.replace("1BW1,0BW1", "1B1,1W1,0B1,0W1");
    assertEquals("older", json("check", csv(halves)).get("letters").asString());
    assertFalse(json("check", csv(V)).has("letters"));
    // One without its weights' gradient is today's, and said to be incomplete as such.
    Cli missing = run("check", csv("0F0,0B0,0F1,0W1\n")).ends(1);
    assertTrue(missing.out().contains("no rank runs I1 of stage 0"), missing.out());
    run("check", csv("0F0,0I0,0W0,0F1,0BW1\n"))
        .refusal(2, "mine.csv:1:5: '0I0' does not go with BW");
  }

  @Test
  void blockingSendsThatCrossHang() {
    String hangs =
        """
        0F0,0SEND_F0,0F1,0SEND_F1,2RECV_F0,2F0,2RECV_F1,2F1,2B0,2SEND_B0,2B1,2SEND_B1,0RECV_B0,0B0,0RECV_B1,0B1
        1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,1RECV_B0,1B0,1SEND_B0,1RECV_B1,1B1,1SEND_B1
        """;
    JsonNode buffered = json("check", csv(hangs));
    assertTrue(buffered.get("valid").asBoolean());
    assertEquals("buffered", buffered.get("sends").asString());
    assertTrue(run("check", csv(hangs)).out().contains("sends are taken as buffered"));
    JsonNode blocking = run("check", csv(hangs), "--sends", "blocking", "--json").ends(1).json();
    assertEquals("blocking", blocking.get("sends").asString());
    JsonNode problem = blocking.at("/problems/0");
    assertEquals("deadlock", problem.get("what").asString());
    assertEquals(
        "rank 0 waits for ever in 0SEND_F1: it needs 1RECV_F1, which rank 1 runs after 1SEND_F0;"
            + " that needs 2RECV_F0, which rank 0 runs after 0SEND_F1",
        problem.get("message").asString());
    assertEquals(2, problem.get("ring").size());
    run("check", csv(hangs), "--sends", "eager").refusal(2, "--sends: 'eager' is neither");
    String plan = Cli.file(folder, "plan.json", Cli.plan()).toString();
    run("check", plan, "--sends", "blocking").refusal(2, "--sends: is for schedules");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"gpipe", "1f1b", "interleaved", "looped-bfs", "zb-v", "dualpipev", "hanayo"})
  void transfersThatWeWriteNeverHang(String name) {
    String file = written(".transfers.csv", name, 4, 8);
    assertTrue(json("check", file, "--sends", "blocking").get("valid").asBoolean());
    String alone = written(".csv", name, 4, 8);
    String said = run("check", alone, "--sends", "blocking").ends(0).out();
    assertTrue(said.contains("it names no sends"), said);
  }

  @ParameterizedTest
  @CsvSource({
    "1f1b-star, 3, 1, 0",
    "pipedream, 3, 1, 0",
    "pipedream-2bw, 12, 4, 0",
    "cyclic-v2, 12, 4, 0",
    "cyclic-v1-pyramid, 12, 4, 0.6",
    "cyclic-zero-dp, 12, 4, 0"
  })
  void whatNeverFlushesSaysItsPeriod(String name, double period, int microBatches, double idle) {
    JsonNode answer = Cli.schedule(name, 4, 8, "--json").ends(0).json();
    assertEquals(period, answer.get("period").asDouble(), 1e-9);
    assertEquals(microBatches, answer.get("period_micro_batches").asInt());
    assertEquals(idle, answer.get("steady_idle_share").asDouble(), 1e-9);
    String shown = Cli.schedule(name, 4, 8).out();
    assertTrue(shown.contains("once the pipeline is full"), shown);
    assertFalse(Cli.schedule("1f1b", 4, 8, "--json").json().has("period"));
    String compared = Cli.schedule("1f1b", 4, 8, "--beside", name).ends(0).out();
    assertTrue(compared.contains("period of a"), compared);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cyclic-v1", "cyclic-v2-zero", "zero-dp"})
  void whereARankRunsAllStagesNumbersAreStages(String name) {
    String shown = Cli.schedule(name, 4, 8).ends(0).out();
    assertTrue(shown.replace(" ", "").contains("F0F1F2F3B3━━"), shown);
    assertTrue(shown.contains("number: stage"), shown);
    Path svg = folder.resolve("s.svg");
    Cli.schedule(name, 4, 8, "--svg", svg.toString()).ends(0);
    String labels = Cli.text(svg).replaceAll("(?s)<title>.*?</title>", "");
    for (int stage = 0; stage < 4; stage++) {
      assertTrue(labels.contains(">" + stage + "</text>"), "stage " + stage);
    }
    assertTrue(labels.contains("; numbers are stages<"), "said");
    String pyramid = Cli.schedule("cyclic-v2-pyramid", 4, 8).ends(0).out().replaceAll("\\s+", " ");
    assertTrue(pyramid.contains("stage 1 on ranks 4–6, stage 2 on ranks 7–8"), pyramid);
  }
}

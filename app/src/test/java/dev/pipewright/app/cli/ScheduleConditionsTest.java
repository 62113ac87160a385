package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The command {@code schedule} with other times and conditions than the plain ones. */
class ScheduleConditionsTest {
  @Test
  void overlappedPairsTakeAsLongAsTheLongest() {
    double summed = makespan("dualpipe");
    double overlapped = makespan("dualpipe", "--overlap");
    assertTrue(overlapped < summed, overlapped + " < " + summed);
    assertTrue(
        Cli.schedule("dualpipe", 4, 8, "--overlap")
            .out()
            .contains("transfers free, ops together as long as the longest\n"));
    JsonNode plain = Cli.schedule("1f1b", 4, 8, "--overlap", "--json").json();
    assertEquals(33, plain.get("makespan").asDouble());
  }

  /** Megatron-LM recomputes in the backward call, once the gradient has come. */
  @Test
  void backwardPassesThatRecomputeTakeAForwardPassLonger() {
    assertEquals((8 + 3) * (1 + 3), makespan("1f1b", "--recompute", "all"));
    assertEquals(makespan("1f1b", "--times", "1,2,1,0"), makespan("1f1b", "--recompute", "0-3"));
    assertEquals(makespan("zb-h1", "--times", "1,2,1,0"), makespan("zb-h1", "--recompute", "all"));
    assertEquals(
        makespan("interleaved", "--times", "1,1:1:2:1,1,0"),
        makespan("interleaved", "--recompute", "2"));
    String shown = Cli.schedule("1f1b", 4, 8, "--recompute", "all").ends(0).out();
    assertTrue(shown.contains("recomputed all within B, which takes F longer\n"), shown);
    assertFalse(shown.contains("R recomputation"), shown);
  }

  /** The last stage runs the last micro-batch back at once: torchgpipe's except_last. */
  @Test
  void exceptLastKeepsTheLastMicroBatch() {
    assertEquals((8 + 3) * (1 + 2), makespan("gpipe"));
    assertEquals((8 + 3) * (1 + 2 + 1), makespan("gpipe", "--recompute", "all"));
    // The first micro-batch recomputes on all four stages, the others follow it, the last is short.
    assertEquals((8 + 3) * (1 + 2) + 3 + 7, makespan("gpipe", "--recompute", "except-last"));
    Cli.schedule("pipedream", 4, 8, "--recompute", "except-last")
        .refusal(2, "--recompute: except-last keeps", "pipedream never flushes");
  }

  @Test
  void jitterAndSlowRanksMeetRecomputationToo() {
    assertEquals(
        makespan("1f1b", "--times", "1,2,1,0", "--slow", "1:2"),
        makespan("1f1b", "--recompute", "all", "--slow", "1:2"));
    String[] jitter = {"--jitter", "0.2", "--runs", "9", "--json"};
    JsonNode within =
        Cli.schedule("1f1b", 4, 8, Cli.with(Cli.with(jitter, "--recompute"), "all")).json();
    JsonNode longer =
        Cli.schedule("1f1b", 4, 8, Cli.with(Cli.with(jitter, "--times"), "1,2,1,0")).json();
    assertEquals(longer.get("jitter"), within.get("jitter"));
  }

  @Test
  void forwardPassesRunAheadOfTheGradientWhereAsked() {
    String[] ahead = {"--recompute", "1", "--recompute-ahead", "--json"};
    JsonNode answer = Cli.schedule("gpipe", 2, 1, ahead).ends(0).json();
    assertEquals(1 + 1 + 1 + 2 + 2, answer.get("makespan").asDouble());
    assertTrue(makespan("1f1b", "--recompute", "all", "--recompute-ahead") < 44);
    assertTrue(
        Cli.schedule("gpipe", 2, 1, "--recompute", "all", "--recompute-ahead")
            .out()
            .contains("R recomputation"));
    Cli.schedule("gpipe", 2, 1, "--recompute", "2").refusal(2, "--recompute: '2' names no stages");
    Cli.schedule("gpipe", 2, 1, "--recompute-ahead")
        .refusal(2, "--recompute-ahead: nothing is recomputed");
  }

  @Test
  void transfersMayDifferByCut() {
    JsonNode answer =
        Cli.schedule("gpipe", 3, 1, "--times", "1,1,1,0.5:2", "--json").ends(0).json();
    assertEquals(3 * 3 + 2 * (0.5 + 2), answer.get("makespan").asDouble());
  }

  @Test
  void updatesAndExchangesTakeTheTimeOfAStep() {
    String[] steps = {"--step-times", "1,4,0,0"};
    double without = Cli.schedule("dp", 2, 2, "--json").json().get("makespan").asDouble();
    double with =
        Cli.schedule("dp", 2, 2, Cli.with(steps, "--json")).json().get("makespan").asDouble();
    // Adding up the second stage's gradients (4) outlasts the first stage's backward pass (2).
    assertEquals(without + 4 + 2 + 1, with, "" + without);
    String shown = Cli.schedule("dp", 2, 2, steps).ends(0).out();
    assertTrue(shown.contains("transfers free, update 1, adding up 4\n"), shown);
    Cli.schedule("dp", 2, 2, "--step-times", "1,2,3").refusal(2, "--step-times: '1,2,3' holds 3");
    Cli.schedule("dp", 2, 2, "--step-times", "1,-2,3,4")
        .refusal(2, "--step-times: '-2' is no time");
  }

  @Test
  void conditionsChangeTheRunAndAreStated() {
    String[] times = {"--times", "1,1,1,0.5"};
    double plain = makespan("1f1b", times);
    for (String[] flags : new String[][] {{"--slow", "1:2"}, {"--transfers", "blocking"}}) {
      String[] all = {times[0], times[1], flags[0], flags[1]};
      assertTrue(makespan("1f1b", all) > plain);
      String words = Cli.schedule("1f1b", 4, 8, all).ends(0).out();
      assertTrue(words.contains(flags[1]), words);
    }
    Cli jitter = Cli.schedule("zb-h1", 4, 8, "--jitter", "0.1", "--runs", "20").ends(0);
    assertTrue(jitter.out().contains("zb-h1 with jitter: median "), jitter.out());
    JsonNode answer = Cli.schedule("zb-h1", 4, 8, "--jitter", "0.1", "--json").ends(0).json();
    assertEquals(200, answer.at("/jitter/runs").asInt());
    assertTrue(answer.at("/jitter/p95_s").asDouble() > answer.at("/jitter/median_s").asDouble());
    Cli.schedule("1f1b", 4, 8, "--slow", "4:2").refusal(2, "there is no rank 4");
  }

  @Test
  void messagesBetweenMachinesShareTheirPorts() {
    double apart = shared("4"); // inside a machine, on links of their own
    assertTrue(apart >= 8 * 3);
    assertTrue(shared("1") > apart); // activations and gradients leave a rank by one port
  }

  @Test
  void ranksThatWouldWaitForEverAreRefused() {
    Cli.schedule("cyclic-v1", 4, 4, "--transfers", "blocking")
        .refusal(2, "cyclic-v1 cannot run so", "give --transfers delayed or queued");
    Cli.schedule("cyclic-v1", 4, 4, "--transfers", "queued").ends(0);
  }

  @Test
  void theOptimumIsOneOfTheGivenTimesAlone() {
    for (String flags : List.of("--slow 1:2", "--transfers blocking", "--recompute all")) {
      Cli.schedule("optimal", 2, 3, flags.split(" "))
          .refusal(2, "optimal is searched for --times and --memory-cap alone; leave out");
    }
    Cli.schedule("optimal", 2, 3, "--jitter", "0.1", "--runs", "5").ends(0);
  }

  private static double makespan(String name, String... more) {
    Cli run = Cli.schedule(name, 4, 8, Cli.with(more, "--json")).ends(0);
    return run.json().get("makespan").asDouble();
  }

  private static double shared(String perMachine) {
    return makespan(
        "1f1b", "--times", "1,1,1,2", "--transfers", "shared", "--per-machine", perMachine);
  }
}

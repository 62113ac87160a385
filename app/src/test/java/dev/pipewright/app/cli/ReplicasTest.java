package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.input.Replicas;
import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The command {@code schedule pipedream} with replicas of stages. */
class ReplicasTest {
  private static Cli pipedream(int stages, int microBatches, String replicas, String... more) {
    return Cli.schedule(
        "pipedream", stages, microBatches, Cli.with(Cli.with(more, "--replicas"), replicas));
  }

  /** Each replica computes its part of its stage's micro-batches, in its stage's times. */
  @RepeatedTest(value = 20, name = "seed {currentRepetition}")
  void replicasShareTheWorkOfTheirStage(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int[] replicas = random.ints(random.nextInt(1, 5), 1, 4).toArray();
    int[] times = random.ints(replicas.length, 1, 9).toArray();
    JsonNode ranks =
        pipedream(
                replicas.length, 12, words(replicas), "--times", words(times) + ",1,1,0", "--json")
            .ends(0)
            .json()
            .get("ranks");
    int rank = 0;
    for (int stage = 0; stage < replicas.length; stage++) {
      for (int replica = 0; replica < replicas[stage]; replica++, rank++) {
        double busy = 0;
        for (JsonNode op : ranks.get(rank)) {
          busy += op.get(4).asDouble() - op.get(3).asDouble();
        }
        assertEquals(12.0 / replicas[stage] * (times[stage] + 2), busy, 1e-9);
      }
    }
    assertEquals(rank, ranks.size());
  }

  private static String words(int[] values) {
    return Arrays.stream(values).mapToObj(Integer::toString).collect(Collectors.joining(":"));
  }

  @Test
  void oneNumberIsForAllStages() {
    assertEquals(Diagram.of(PipeDream.of(12, 2, 2, 2)), Diagram.of(made(Replicas.of("2", 3, 12))));
    assertEquals(Diagram.of(PipeDream.of(3, 12)), Diagram.of(made(Replicas.none(3))));
  }

  private static Schedule made(Replicas replicas) {
    return PipeDream.of(12, replicas.array());
  }

  @Test
  void replicasAreStatedAndTheirGradientsTakeTimeToAddUp() {
    String out = pipedream(3, 8, "2:1:1", "--step-times", "0,1,0,0").ends(0).out();
    assertTrue(out.startsWith("pipedream: 4 ranks, 8 micro-batches\n"), out);
    assertTrue(out.contains("transfers free, replicas of stages 2:1:1, adding up 1\n"), out);
    pipedream(3, 8, "1", "--step-times", "0,1,0,0").refusal(2, "--step-times: '0,1,0,0'");
  }

  @Test
  void capsAndSlownessCountRanks() {
    String[] caps = {"--memory-cap", "2:2:2:1"};
    pipedream(3, 8, "2:1:1", caps).ends(0);
    assertTrue(
        pipedream(3, 8, "2:1:1", "--memory-cap", "2:1:2:1")
            .ends(1)
            .err()
            .contains("rank 1 holds 2 activations, its cap is 1"));
    pipedream(3, 8, "2:1:1", "--memory-cap", "2:2:2").refusal(2, "holds 3 numbers for 4 ranks");
    pipedream(3, 8, "2:1:1", "--slow", "3:2").ends(0);
    pipedream(3, 8, "2:1:1", "--slow", "4:2").refusal(2, "ranks are 0 to 3");
  }

  @Test
  void othersBesideHaveARankForEachStage() {
    Cli run = pipedream(3, 8, "2:1:1", "--beside", "1f1b", "--json").ends(0);
    assertEquals(4, run.json().get("ranks").size());
    assertEquals(3, run.json().at("/beside/0/ranks").size());
    String shown = pipedream(3, 8, "2:1:1", "--beside", "1f1b").ends(0).out();
    assertTrue(shown.startsWith("pipedream, 1f1b: 3 to 4 ranks, 8 micro-batches\n"), shown);
    run = Cli.schedule("1f1b", 3, 8, "--replicas", "2", "--beside", "pipedream", "--json").ends(0);
    assertEquals(6, run.json().at("/beside/0/ranks").size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2:1 | --replicas: '2:1' holds 2 numbers for 3 stages; give one, or one per stage like 2:1",
        "2:0:1 | --replicas: '0' is no count; give whole numbers >= 1, like 64",
        "two | --replicas: 'two' is no count; give whole numbers >= 1, like 64",
        "4000 | --replicas: '4000' makes 12000 ranks, more than can be shown; take at most 4096 in all",
        "999:1000:1001 | --replicas: '999:1000:1001' all have had their turn only after more"
            + " micro-batches than can be shown; take numbers that divide each other, like 4:2:1",
        "2:3:1 | --micro-batches: replicas 2:3:1 have all had their turn after every 6, so 8 are"
            + " refused; take 12",
      })
  void replicasThatCannotTakeTurnsAreRefused(String replicas, String sentence) {
    assertEquals(sentence, pipedream(3, 8, replicas).refusal(2));
  }

  @Test
  void onlyPipeDreamHasReplicas() {
    assertEquals(
        "--replicas: only pipedream supports it, not 1f1b; leave it out, or take pipedream",
        Cli.schedule("1f1b", 3, 8, "--replicas", "2").refusal(2));
    Cli.schedule("pipedream-2bw", 2, 8, "--replicas", "2", "--beside", "dp")
        .refusal(2, "only pipedream supports it, not pipedream-2bw, dp; ");
  }
}

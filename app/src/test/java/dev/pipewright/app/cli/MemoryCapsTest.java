package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The command {@code schedule} with a memory cap for each rank. */
class MemoryCapsTest {
  private static JsonNode answer(String name, int stages, int microBatches, String caps) {
    return Cli.schedule(name, stages, microBatches, "--memory-cap", caps, "--json").ends(0).json();
  }

  @ParameterizedTest
  @CsvSource({"4, 4.0", "4:4:4:4, 4.0", "4:3:2.5:1, '[4.0,3.0,2.5,1.0]'"})
  void theAnswerHasANumberWhereAllAreEqualAndElseOnePerRank(String caps, String written) {
    assertEquals(written, answer("1f1b", 4, 8, caps).get("memory_cap").toString());
  }

  @Test
  void aRankThatExceedsItsOwnCapIsTheAnswerNo() {
    Cli.schedule("1f1b", 4, 8, "--memory-cap", "4:3:2:1").ends(0);
    assertEquals(
        "pipewright: does not fit: rank 2 holds 2 activations, its cap is 1; try zb-auto, or a"
            + " larger --memory-cap\n",
        Cli.schedule("1f1b", 4, 8, "--memory-cap", "9:9:1:9").ends(1).err());
    assertTrue(
        Cli.schedule("1f1b", 4, 8, "--memory-cap", "4:3:2:1").out().contains("(cap 4:3:2:1)\n"));
  }

  @RepeatedTest(value = 20, name = "seed {currentRepetition}")
  void automaticZeroBubblesKeepToEachStagesCap(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int[] caps = random.ints(random.nextInt(2, 6), 1, 7).toArray();
    JsonNode peaks = answer("zb-auto", caps.length, 12, words(caps)).get("peak_activations");
    for (int rank = 0; rank < caps.length; rank++) {
      assertTrue(peaks.get(rank).asDouble() <= caps[rank], peaks + " of " + words(caps));
    }
  }

  private static String words(int[] caps) {
    return Arrays.stream(caps).mapToObj(Integer::toString).collect(Collectors.joining(":"));
  }

  /** More memory on one rank never makes the optimum longer, less never shorter. */
  @RepeatedTest(value = 10, name = "seed {currentRepetition}")
  void theOptimumLiesBetweenThoseOfTheLeastAndTheMostCap(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int[] caps = random.ints(3, 1, 4).toArray();
    JsonNode answer = answer("optimal", 3, 4, words(caps));
    for (int rank = 0; rank < caps.length; rank++) {
      assertTrue(answer.at("/peak_activations/" + rank).asInt() <= caps[rank], words(caps));
    }
    double found = answer.get("makespan").asDouble();
    assertTrue(answer.get("optimal").asBoolean());
    assertTrue(found <= optimum(Arrays.stream(caps).min().orElseThrow()), words(caps));
    assertTrue(found >= optimum(Arrays.stream(caps).max().orElseThrow()), words(caps));
  }

  private static double optimum(int cap) {
    return answer("optimal", 3, 4, "" + cap).get("makespan").asDouble();
  }

  /** All takes one: what each rank with room for one micro-batch makes the others wait for. */
  @Test
  void oneRankWithoutMemoryHoldsUpTheOthers() {
    double all = 3 + 3 + 1; // there and back, and the first stage's weights
    assertEquals(4 * all, answer("optimal", 3, 4, "1:3:3").get("makespan").asDouble());
    // The last stage has none in store: it begins after 2, takes 3 each, and 2 go back behind it.
    assertEquals(2 + 4 * 3 + 2, answer("optimal", 3, 4, "3:2:1").get("makespan").asDouble());
  }

  @ParameterizedTest
  @ValueSource(strings = {"zb-v", "v-half", "v-min", "1f1b-star", "k-periodic"})
  void whatTakesOneCapTakesTheLeast(String name) {
    JsonNode least = answer(name, 4, 8, "3");
    JsonNode byRank = answer(name, 4, 8, "9:3:4:3");
    assertEquals(least.get("ranks"), byRank.get("ranks"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "8:7:6 | --memory-cap: '8:7:6' holds 3 numbers for 4 ranks; give one, or one per rank like 8:7:6",
        "8:7:6:5:4 | --memory-cap: '8:7:6:5:4' holds 5 numbers for 4 ranks; give one, or one per rank like 8:7:6",
        "8:7:6:0.5 | --memory-cap: '0.5' holds not even one micro-batch; give numbers >= 1",
        "8:-7:6:5 | --memory-cap: '-7' holds not even one micro-batch; give numbers >= 1",
        "8:x:6:5 | --memory-cap: 'x' is no number; give one, or one per rank like 8:7:6",
        "8:7:6: | --memory-cap: '' is no number; give one, or one per rank like 8:7:6",
        "8:NaN:6:5 | --memory-cap: 'NaN' is no number; give one, or one per rank like 8:7:6",
        "Infinity | --memory-cap: 'Infinity' is no number; give one, or one per rank like 8:7:6",
        "1e400 | --memory-cap: '1e400' is no number; give one, or one per rank like 8:7:6",
      })
  void capsThatAreNoneAreRefused(String caps, String sentence) {
    for (String name : new String[] {"1f1b", "zb-auto", "zb-v", "optimal"}) {
      assertEquals(sentence, Cli.schedule(name, 4, 8, "--memory-cap", caps).refusal(2));
    }
  }

  @Test
  void capsCountTheRanksOfEachSchedule() {
    String[] caps = {"--memory-cap", "4:4:4:4"};
    Cli.schedule("cyclic-v2-pyramid", 4, 8, caps).refusal(2, "holds 4 numbers for 10 ranks");
    Cli.schedule("1f1b", 4, 8, Cli.with(Cli.with(caps, "--beside"), "cyclic-v1-single"))
        .refusal(2, "--beside: cyclic-v1-single: --memory-cap: ", "for 1 ranks");
  }
}

package dev.pipewright.solver.bayes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.planner.memory.Balance;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.StagePeak;
import dev.pipewright.solver.bayes.McapBayesian.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class McapBayesianTest {
  private static LayerPeaks layers(long seed, int layers) {
    var random = new SplittableRandom(seed);
    double[] alone = random.doubles(layers, 1e9, 2e9).map(Math::rint).toArray();
    double[] added = random.doubles(layers, 1e8, 1e9).map(Math::rint).toArray();
    return new LayerPeaks(alone, added);
  }

  private static Balance optimum(StagePeak peaks, int layers, int stages) {
    return McapBruteForce.of(peaks, layers, stages, () -> false);
  }

  @RepeatedTest(20)
  void reportsWhatThePredictorSaysAndNeverLessThanTheOptimum(RepetitionInfo seed) {
    int number = seed.getCurrentRepetition();
    LayerPeaks peaks = layers(number, 16);
    Balance found =
        McapBayesian.of(peaks, 16, 2 + number % 4, new Settings(5, 25, number), () -> false);
    assertArrayEquals(peaks.bytes(found.sizes()), found.bytes());
    assertEquals(16, Arrays.stream(found.sizes()).sum());
    Balance best = optimum(peaks, 16, 2 + number % 4);
    assertEquals(best.peakBytes(), found.lowerBound().value());
    assertTrue(found.peakBytes() >= best.peakBytes());
    assertTrue(found.considered() <= 25);
  }

  @Test
  void findsTheOptimumOfSmallCasesWithMostSeeds() {
    int hits = 0;
    for (int seed = 1; seed <= 20; seed++) {
      LayerPeaks peaks = layers(seed, 14);
      double least = optimum(peaks, 14, 4).peakBytes();
      Settings settings = new Settings(30, 100, seed);
      Balance found = McapBayesian.of(peaks, 14, 4, settings, () -> false);
      hits += found.peakBytes() == least ? 1 : 0;
    }
    assertTrue(hits >= 16, hits + " of 20");
  }

  @Test
  void findsTheOptimumOfTheAuthorsSmallerCases() {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "mcap", "brute-force-cases.json");
    assumeTrue(Files.exists(file), "no reference cases " + file);
    int cases = 0;
    for (JsonNode one : JsonMapper.shared().readTree(file.toFile()).get("cases")) {
      int devices = one.get("n_gpus").asInt();
      if (devices > 4) {
        continue;
      }
      cases++;
      double[] alone = one.get("iso").valueStream().mapToDouble(JsonNode::asDouble).toArray();
      double[] added = one.get("added").valueStream().mapToDouble(JsonNode::asDouble).toArray();
      LayerPeaks peaks = new LayerPeaks(alone, added);
      int hits = 0;
      for (int seed = 1; seed <= 10; seed++) {
        Settings settings = new Settings(30, 100, seed);
        Balance found = McapBayesian.of(peaks, peaks.layers(), devices, settings, () -> false);
        hits += found.peakBytes() == one.at("/bf/peak").asDouble() ? 1 : 0;
      }
      assertTrue(hits > 5, hits + " of 10 seeds, " + peaks.layers() + " layers");
    }
    assertEquals(3, cases);
  }

  @Test
  void theSameSeedGivesTheSameAnswer() {
    LayerPeaks peaks = layers(9, 30);
    Settings settings = new Settings(10, 40, 3);
    Balance once = McapBayesian.of(peaks, 30, 6, settings, () -> false);
    Balance again = McapBayesian.of(peaks, 30, 6, settings, () -> false);
    assertArrayEquals(once.sizes(), again.sizes());
  }

  @Test
  void isBetterThanDrawingBlindly() {
    double guided = 0;
    double blind = 0;
    for (int seed = 1; seed <= 10; seed++) {
      LayerPeaks peaks = layers(100 + seed, 30);
      guided += McapBayesian.of(peaks, 30, 6, new Settings(20, 60, seed), () -> false).gap();
      blind += McapBayesian.of(peaks, 30, 6, new Settings(60, 60, seed), () -> false).gap();
    }
    assertTrue(guided < 0.5 * blind, guided + " " + blind);
  }

  @Test
  void stopsWhenToldAndWhenNothingIsLeft() {
    LayerPeaks peaks = layers(4, 12);
    AtomicInteger asked = new AtomicInteger();
    Balance cut =
        McapBayesian.of(peaks, 12, 4, new Settings(30, 100, 1), () -> asked.incrementAndGet() == 7);
    assertEquals(7, cut.considered());
    Balance all = McapBayesian.of(peaks, 12, 1, Settings.USUAL, () -> false);
    assertEquals(1, all.considered());
    Balance three = McapBayesian.of(layers(4, 3), 3, 2, Settings.USUAL, () -> false);
    assertEquals(2, three.considered());
    assertEquals(0, three.gap());
  }

  /** Branches leave few places to cut at: what cannot be cut is never the answer. */
  @Test
  void avoidsWhatIsNoStage() {
    LayerPeaks peaks = layers(5, 20);
    StagePeak some =
        (stage, first, end) ->
            first % 2 == 1 || end % 2 == 1
                ? Double.POSITIVE_INFINITY
                : peaks.bytes(stage, first, end);
    Balance found = McapBayesian.of(some, 20, 4, Settings.USUAL, () -> false);
    assertTrue(found.peakBytes() < Double.POSITIVE_INFINITY);
    assertTrue(found.peakBytes() >= found.lowerBound().value());
  }
}

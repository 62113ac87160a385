package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class BalanceTest {
  private static void assertBest(StagePeak peaks, int layers, int stages) {
    int[] expected = EveryPartition.best(peaks, layers, stages);
    if (expected.length == 0) {
      assertThrows(
          IllegalArgumentException.class, () -> McapExact.of(peaks, layers, stages, TieBreak.NONE));
      return;
    }
    double peak = EveryPartition.peak(peaks, expected, 0);
    Balance brute = McapBruteForce.of(peaks, layers, stages, () -> false);
    Balance exact = McapExact.of(peaks, layers, stages, TieBreak.NONE);
    Balance tied = McapExact.of(peaks, layers, stages, TieBreak.NEXT_PEAKS);
    assertArrayEquals(expected, brute.sizes(), brute::toString);
    assertArrayEquals(expected, tied.sizes(), tied::toString);
    assertEquals(peak, exact.peakBytes());
    assertEquals(peak, EveryPartition.peak(peaks, exact.sizes(), 0));
    assertEquals(peak, brute.lowerBound().value());
    assertEquals(EveryPartition.of(layers, stages).size(), brute.considered());
    assertRunnerUp(peaks, layers, tied);
  }

  /** The best of all partitions without the stage that binds. */
  private static void assertRunnerUp(StagePeak peaks, int layers, Balance best) {
    int binds = best.fullest();
    int first = best.first(binds);
    double second =
        EveryPartition.of(layers, best.sizes().length).stream()
            .filter(sizes ->
                Arrays.stream(sizes, 0, binds).sum() != first
                    || sizes[binds] != best.sizes()[binds])
            .mapToDouble(sizes -> EveryPartition.peak(peaks, sizes, 0))
            .min()
            .orElse(Double.POSITIVE_INFINITY);
    double found =
        best.runnerUp().map(Balance.RunnerUp::peakBytes).orElse(Double.POSITIVE_INFINITY);
    assertEquals(second, found);
    best.runnerUp()
        .ifPresent(other -> assertEquals(second, EveryPartition.peak(peaks, other.sizes(), 0)));
  }

  @RepeatedTest(200)
  void ofMeasuredLayersIsTheBestPartitionAndItsTiesAreBrokenAsInMcap(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int layers = random.nextInt(1, 11);
    int stages = random.nextInt(1, layers + 1);
    assertBest(RandomPeaks.ofLayers(random, layers), layers, stages);
  }

  @RepeatedTest(200)
  void ofAnyPredictorIsTheBestPartition(RepetitionInfo seed) {
    var random = new SplittableRandom(1000 + seed.getCurrentRepetition());
    int layers = random.nextInt(1, 10);
    int stages = random.nextInt(1, layers + 1);
    assertBest(RandomPeaks.ofAnything(random, layers, stages), layers, stages);
  }

  /** The emptiest stage does not count: 3+1+2 comes before 3+2+1, whose last stage holds less. */
  @Test
  void tiesIgnoreTheEmptiestStage() {
    double[] alone = {3, 1, 1, 1, 1, 1};
    double[] added = {0, 1, 1, 1, 1, 1};
    StagePeak peaks = new LayerPeaks(alone, added);
    assertArrayEquals(new int[] {1, 2, 3}, McapBruteForce.of(peaks, 6, 3, () -> false).sizes());
    assertArrayEquals(new int[] {1, 2, 3}, McapExact.of(peaks, 6, 3, TieBreak.NEXT_PEAKS).sizes());
  }

  @Test
  void bruteForceReturnsWhatItHasAndABoundWhenItIsStopped() {
    var random = new SplittableRandom(7);
    LayerPeaks peaks = RandomPeaks.ofLayers(random, 40);
    AtomicInteger asked = new AtomicInteger();
    Balance cut = McapBruteForce.of(peaks, 40, 6, () -> asked.incrementAndGet() == 3);
    assertEquals(3, asked.get());
    assertEquals(3 * (1 << 14), cut.considered());
    double least = McapExact.of(peaks, 40, 6, TieBreak.NONE).peakBytes();
    assertEquals(least, cut.lowerBound().value());
    assertTrue(cut.peakBytes() >= least && cut.gap() >= 0, cut::toString);
    assertArrayEquals(peaks.bytes(cut.sizes()), cut.bytes());
  }

  @Test
  void saysWhatBinds() {
    LayerPeaks peaks = new LayerPeaks(new double[] {2048, 1, 1}, new double[] {0, 1, 1});
    Balance balance = McapExact.of(peaks, 3, 2, TieBreak.NEXT_PEAKS);
    assertEquals(
        "memory: stage 0 (layer 0 alone) holds 2.00 KiB; the mean of all stages is 50.0 % of that;"
            + " one layer is not cut any smaller",
        balance.binding());
    assertEquals(0, balance.gap());
  }

  @Test
  void moreDevicesThanLayersIsOneSentence() {
    LayerPeaks peaks = new LayerPeaks(new double[] {1, 1}, new double[] {0, 1});
    var refusal =
        assertThrows(
            IllegalArgumentException.class, () -> McapExact.of(peaks, 2, 3, TieBreak.NONE));
    assertEquals(
        "3 devices need a layer each: layers=2; use at most as many devices", refusal.getMessage());
  }
}

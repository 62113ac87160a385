package dev.pipewright.planner.partition;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PartitionsTest {
  /** Zeros, equal weights and weights far apart. */
  private static double[] weights(SplittableRandom random, int most) {
    int size = random.nextInt(1, most + 1);
    int shape = random.nextInt(4);
    return random
        .doubles(size)
        .map(x -> shape == 0 ? 1 : shape == 1 ? x : x < 0.3 ? 0 : shape == 2 ? x * x * x : 0.1)
        .toArray();
  }

  /** The least weight of the heaviest of some stages over the first items, every last cut tried. */
  private static double least(double[] weights, int end, int stages) {
    double last = 0;
    double best = Double.POSITIVE_INFINITY;
    for (int first = end - 1; first >= stages - 1; first--) {
      last += weights[first];
      if (stages > 1) {
        best = Math.min(best, Math.max(least(weights, first, stages - 1), last));
      }
    }
    return stages == 1 ? last : best;
  }

  private static double[] blocks(double[] weights, int[] firsts) {
    double[] blocks = new double[firsts.length];
    for (int i = 0; i < blocks.length; i++) {
      int end = i + 1 < firsts.length ? firsts[i + 1] : weights.length;
      assertTrue(firsts[i] < end, () -> "an empty stage: " + Arrays.toString(firsts));
      blocks[i] = Arrays.stream(weights, firsts[i], end).sum();
    }
    assertEquals(0, firsts[0]);
    return blocks;
  }

  @RepeatedTest(300)
  void theHeaviestStageIsAsLightAsExhaustiveSearchMakesIt(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double[] weights = weights(random, 12);
    int stages = random.nextInt(1, weights.length + 1);
    int[] firsts = UniformWeights.firsts(weights, stages);
    double heaviest = Arrays.stream(blocks(weights, firsts)).max().orElseThrow();
    assertEquals(least(weights, weights.length, stages), heaviest, 1e-12);
    assertEquals(heaviest, UniformWeights.heaviest(weights, firsts), 1e-12);
  }

  /** The same where a stage takes its weight times its pace. */
  private static double least(double[] weights, int end, double[] paces, int stages) {
    double last = 0;
    double best = Double.POSITIVE_INFINITY;
    for (int first = end - 1; first >= stages - 1; first--) {
      last += weights[first] * paces[stages - 1];
      if (stages > 1) {
        best = Math.min(best, Math.max(least(weights, first, paces, stages - 1), last));
      }
    }
    return stages == 1 ? last : best;
  }

  @RepeatedTest(300)
  void stagesOfUnlikePaceAreAsShortAsExhaustiveSearchMakesThem(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double[] weights = weights(random, 12);
    int stages = random.nextInt(1, weights.length + 1);
    double[] paces = random.doubles(stages, 0.5, 4).toArray();
    double[] blocks = blocks(weights, PacedPartition.firsts(weights, paces));
    double longest = 0;
    for (int stage = 0; stage < stages; stage++) {
      longest = Math.max(longest, blocks[stage] * paces[stage]);
    }
    assertEquals(least(weights, weights.length, paces, stages), longest, 1e-9);
  }

  @RepeatedTest(500)
  void noTwoBlocksAreFurtherApartThanTheLargestItem(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double[] weights = weights(random, seed.getCurrentRepetition() % 10 == 0 ? 2_000 : 14);
    int stages = random.nextInt(1, Math.min(weights.length, 200) + 1);
    double[] blocks = blocks(weights, BlockPartition.firsts(weights, stages));
    double largest = Arrays.stream(weights).max().orElseThrow();
    double mean = Arrays.stream(weights).sum() / stages;
    double slack = 1e-8 * Arrays.stream(blocks).max().orElseThrow();
    double apart =
        Arrays.stream(blocks).max().orElseThrow() - Arrays.stream(blocks).min().orElseThrow();
    assertTrue(apart <= largest + slack, () -> apart + " > " + largest);
    for (double block : blocks) {
      assertTrue(Math.abs(block - mean) <= largest + slack);
    }
  }

  @RepeatedTest(100)
  void theExactPartitionIsNoHeavierThanTheBlocks(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double[] weights = weights(random, 300);
    int stages = random.nextInt(1, weights.length + 1);
    double exact = UniformWeights.heaviest(weights, UniformWeights.firsts(weights, stages));
    double blocks = UniformWeights.heaviest(weights, BlockPartition.firsts(weights, stages));
    double largest = Arrays.stream(weights).max().orElseThrow();
    assertTrue(exact <= blocks);
    assertTrue(blocks <= (exact + largest) * (1 + 1e-8));
  }

  @Test
  void blocksMoveTowardsTheLightest() { // one at a time, from 0 1 2 | 3 4 5
    assertArrayEquals(new int[] {0, 2}, BlockPartition.firsts(new double[] {5, 5, 5, 1, 1, 1}, 2));
    assertArrayEquals(new int[] {0, 4}, BlockPartition.firsts(new double[] {1, 1, 1, 5, 5, 5}, 2));
    assertArrayEquals( // apart by no more than the largest: it stays
        new int[] {0, 2}, BlockPartition.firsts(new double[] {1, 1, 2, 2}, 2));
  }

  @Test
  void theFirstStagesGetTheLayersThatAreLeft() {
    assertArrayEquals(new int[] {0, 3, 6, 8}, UniformLayers.firsts(10, 4));
    assertArrayEquals(new int[] {0, 4, 8}, UniformLayers.firsts(12, 3));
    assertArrayEquals(new int[] {0, 1, 2}, UniformLayers.firsts(3, 3));
  }

  @Test
  void aLongChainIsCutExactly() {
    double[] weights = new double[100_000];
    Arrays.fill(weights, 0.1); // sums are off by rounding
    double exact = UniformWeights.heaviest(weights, UniformWeights.firsts(weights, 1_000));
    assertEquals(10, exact, 1e-6);
  }

  @Test
  void stagesAndWeightsAreChecked() {
    assertThrows(IllegalArgumentException.class, () -> UniformLayers.firsts(3, 4));
    assertThrows(IllegalArgumentException.class, () -> UniformWeights.firsts(new double[2], 0));
    assertThrows(IllegalArgumentException.class, () -> BlockPartition.firsts(new double[2], 3));
    assertThrows(
        IllegalArgumentException.class,
        () -> PacedPartition.firsts(new double[2], new double[] {1, 1, 1}));
    assertThrows(
        IllegalArgumentException.class, () -> UniformWeights.firsts(new double[] {1, -1}, 1));
  }
}

package dev.pipewright.planner.recompute;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.LayerCosts;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class OptimalCheckpointsTest {
  /** Whole bytes, so that slots of one byte are exact; a layer keeps its output at least. */
  static LayerCosts random(SplittableRandom random, int layers) {
    double[][] figures = new double[4][layers];
    for (int layer = layers - 1; layer >= 0; layer--) {
      figures[0][layer] = random.nextInt(1, 6);
      figures[1][layer] = random.nextInt(1, 9);
      figures[3][layer] = random.nextInt(1, 4);
      int output = layer + 1 < layers ? (int) figures[3][layer + 1] : 1;
      figures[2][layer] = output + random.nextInt(0, 4);
    }
    return new LayerCosts(figures[0], figures[1], figures[2], figures[3]);
  }

  private static LayerCosts equal(int layers, double kept) {
    double[] ones = new double[layers];
    Arrays.fill(ones, 1);
    double[] all = new double[layers];
    Arrays.fill(all, kept);
    return new LayerCosts(ones, ones, all, ones);
  }

  @RepeatedTest(200)
  void theStepsDoWhatTheTableSays(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int layers = random.nextInt(1, 9);
    LayerCosts costs = random(random, layers);
    int bytes = random.nextInt(1, (int) costs.keptBytes() + 3);
    OptimalCheckpoints table = new OptimalCheckpoints(costs, bytes, bytes);
    double seconds = table.seconds(0, layers - 1, bytes);
    List<Step> steps = table.steps(0, layers - 1, bytes);
    assertEquals(seconds == Double.POSITIVE_INFINITY, steps.isEmpty());
    assertEquals(table.leastBytes(0, layers - 1) <= bytes, !steps.isEmpty());
    if (!steps.isEmpty()) {
      Replay replay = Replay.of(costs, steps);
      assertEquals(seconds, replay.seconds(), 1e-9);
      assertTrue(replay.peakBytes() <= bytes, () -> replay + " of " + bytes + ": " + steps);
    }
  }

  @RepeatedTest(200)
  void noOrderIsFasterThatUsesAllItKeeps(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int layers = random.nextInt(1, 7);
    LayerCosts costs = random(random, layers);
    int bytes = random.nextInt(1, (int) costs.keptBytes() + 3);
    OptimalCheckpoints table = new OptimalCheckpoints(costs, bytes, bytes);
    assertEquals(
        EveryCheckpoint.seconds(costs, bytes, false), table.seconds(0, layers - 1, bytes), 1e-9);
  }

  /** Giving up what was kept before it is used helps in some cases, by little. */
  @Test
  void droppingWhatWasKeptSavesLittle() {
    int better = 0;
    double most = 0;
    for (int seed = 1; seed <= 200; seed++) {
      var random = new SplittableRandom(seed);
      int layers = random.nextInt(1, 7);
      LayerCosts costs = random(random, layers);
      int bytes = random.nextInt(1, (int) costs.keptBytes() + 3);
      double found = new OptimalCheckpoints(costs, bytes, bytes).seconds(0, layers - 1, bytes);
      double optimum = EveryCheckpoint.seconds(costs, bytes, true);
      if (found < Double.POSITIVE_INFINITY) {
        assertTrue(optimum <= found + 1e-9);
        better += optimum < found - 1e-9 ? 1 : 0;
        most = Math.max(most, found / optimum - 1);
      }
    }
    assertEquals(30, better);
    assertTrue(most <= 0.14, "most " + most);
  }

  @Test
  void withRoomForAllNothingRunsAgain() {
    LayerCosts costs = equal(6, 2);
    OptimalCheckpoints table = new OptimalCheckpoints(costs, 12, 12);
    assertEquals(costs.seconds(), table.seconds(0, 5, 12));
    assertEquals(
        "[K0, K1, K2, K3, K4, K5, B5, B4, B3, B2, B1, B0]", table.steps(0, 5, 12).toString());
  }

  @Test
  void withLessRoomOneLayerRunsAgain() {
    OptimalCheckpoints table = new OptimalCheckpoints(equal(3, 2), 5, 5);
    assertEquals("[K0, C1, K2, B2, K1, B1, B0]", table.steps(0, 2, 5).toString());
    assertEquals(7, table.seconds(0, 2, 5));
  }

  @Test
  void sizesAreRoundedUp() {
    OptimalCheckpoints table = new OptimalCheckpoints(equal(1, 1.01), 10, 10);
    assertEquals(2, table.leastBytes(0, 0));
    assertEquals(Double.POSITIVE_INFINITY, table.seconds(0, 0, 1.99));
  }

  @Test
  void refusesMoreLayersThanItCanSolve() {
    LayerCosts costs = equal(2000, 1);
    var error =
        assertThrows(IllegalArgumentException.class, () -> new OptimalCheckpoints(costs, 100, 100));
    assertEquals(
        "too many layers to solve all parts, join some: layers=2000, slots=100",
        error.getMessage());
  }
}

package dev.pipewright.planner.recompute;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.plan.LayerRange;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class TradeOffsTest {
  private static LayerCosts part(LayerCosts costs, int first, int end) {
    return new LayerCosts(
        Arrays.copyOfRange(costs.forward(), first, end),
        Arrays.copyOfRange(costs.backward(), first, end),
        Arrays.copyOfRange(costs.kept(), first, end),
        Arrays.copyOfRange(costs.input(), first, end));
  }

  @RepeatedTest(200)
  void noChoiceForAnyStageIsFaster(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerCosts costs = OptimalCheckpointsTest.random(random, random.nextInt(1, 9));
    TradeOffs tradeOffs = TradeOffs.of(costs, Double.POSITIVE_INFINITY);
    for (int asked = 0; asked < 20; asked++) {
      int first = random.nextInt(costs.size());
      int end = random.nextInt(first + 1, costs.size() + 1);
      LayerCosts stage = part(costs, first, end);
      int inFlight = random.nextInt(1, 5);
      double all = inFlight * (stage.input()[0] + stage.keptBytes());
      double bytes = Math.floor(all * random.nextDouble(0.1, 1.1));
      double optimum = EveryChoice.leastSeconds(stage, inFlight, bytes);
      assertEquals(optimum, tradeOffs.extraSeconds(first, end, inFlight, bytes));
      assertTrue(tradeOffs.atLeast(first, end, inFlight, bytes) <= optimum);
      Optional<TradeOffs.Choice> found = tradeOffs.choice(first, end, inFlight, bytes);
      assertEquals(optimum < Double.POSITIVE_INFINITY, found.isPresent());
      if (found.isPresent()) {
        PartlyKept priced = PartlyKept.of(stage, fromZero(found.get().again(), first));
        assertTrue(priced.peakBytes(inFlight) <= bytes);
        assertEquals(priced.extraSeconds(), found.get().extraSeconds());
        assertEquals(priced.heldBytes(), found.get().heldBytes());
        assertEquals(priced.workingBytes(), found.get().workingBytes());
      }
    }
    assertTrue(tradeOffs.exact());
  }

  private static List<LayerRange> fromZero(List<LayerRange> runs, int first) {
    return runs.stream()
        .map(run -> new LayerRange(run.first() - first, run.last() - first))
        .toList();
  }

  @RepeatedTest(200)
  void noChoiceForAnyStageIsSmaller(RepetitionInfo seed) {
    var random = new SplittableRandom(1000 + seed.getCurrentRepetition());
    LayerCosts costs = OptimalCheckpointsTest.random(random, random.nextInt(1, 9));
    TradeOffs tradeOffs = TradeOffs.of(costs, Double.POSITIVE_INFINITY);
    int first = random.nextInt(costs.size());
    LayerCosts stage = part(costs, first, costs.size());
    int inFlight = random.nextInt(1, 5);
    double least = EveryChoice.leastBytes(stage, inFlight);
    assertEquals(least, tradeOffs.leastBytes(first, costs.size(), inFlight));
    assertEquals(
        EveryChoice.leastSeconds(stage, inFlight, least),
        tradeOffs.smallest(first, costs.size(), inFlight).extraSeconds());
    int wanted = random.nextInt(1, 9);
    double bytes = least * random.nextDouble(0.2, 3);
    int room = tradeOffs.room(first, costs.size(), wanted, bytes);
    assertTrue(room == 0 || EveryChoice.leastBytes(stage, room) <= bytes);
    assertTrue(room == wanted || EveryChoice.leastBytes(stage, room + 1) > bytes);
  }

  /** What no device can hold is forgotten, and what the rest costs is not changed by that. */
  @RepeatedTest(50)
  void aLimitOfAllMemoryChangesNothingBelowIt(RepetitionInfo seed) {
    var random = new SplittableRandom(2000 + seed.getCurrentRepetition());
    LayerCosts costs = OptimalCheckpointsTest.random(random, random.nextInt(1, 9));
    double most = random.nextInt(4, 40);
    TradeOffs limited = TradeOffs.of(costs, most);
    TradeOffs all = TradeOffs.of(costs, Double.POSITIVE_INFINITY);
    for (int first = 0; first < costs.size(); first++) {
      for (int inFlight = 1; inFlight < 4; inFlight++) {
        double bytes = random.nextInt(1, (int) most + 1);
        assertEquals(
            all.extraSeconds(first, costs.size(), inFlight, bytes),
            limited.extraSeconds(first, costs.size(), inFlight, bytes));
      }
    }
  }

  /** With one micro-batch, runs in a piece cannot beat nested ones, which count transit too. */
  @RepeatedTest(50)
  void nestedRunsAreNoSlower(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerCosts costs = OptimalCheckpointsTest.random(random, random.nextInt(1, 8));
    int bytes = 1 << random.nextInt(0, 6);
    int transit = 6; // two activations of three bytes
    int room = bytes + transit;
    OptimalCheckpoints nested = new OptimalCheckpoints(costs, room, room);
    double extra =
        TradeOffs.of(costs, 1e9).extraSeconds(0, costs.size(), 1, bytes + costs.input()[0]);
    assertTrue(
        nested.seconds(0, costs.size() - 1, room) <= costs.seconds() + extra + 1e-9
            || extra == Double.POSITIVE_INFINITY);
  }

  @Test
  void keepsWhatFitsAndComputesTheRestAgain() {
    double[] ones = {1, 1, 1, 1};
    LayerCosts costs = new LayerCosts(ones, ones, new double[] {8, 8, 8, 8}, ones);
    TradeOffs.Choice found = TradeOffs.of(costs, 1e9).choice(0, 4, 2, 2 * (16 + 1)).orElseThrow();
    assertEquals(List.of(new LayerRange(0, 1)), found.again());
    // What the last layers kept is gone when the first run again.
    assertEquals(new PartlyKept(1 + 16, 0, 2), PartlyKept.of(costs, found.again()));
  }

  @Test
  void infiniteWhereNotEvenInputsFit() {
    double[] ones = {1, 1};
    LayerCosts costs = new LayerCosts(ones, ones, ones, ones);
    TradeOffs tradeOffs = TradeOffs.of(costs, 1e9);
    assertEquals(Double.POSITIVE_INFINITY, tradeOffs.extraSeconds(0, 2, 3, 2.9));
    assertEquals(Optional.empty(), tradeOffs.choice(0, 2, 3, 2.9));
  }

  /**
   * Many layers of all sizes: where little memory asks for many ways some are left out, which is
   * said, and what is found fits.
   */
  @Test
  void whereWaysAreTooManyChoicesStillFit() {
    var random = new SplittableRandom(7);
    int layers = 60;
    double[][] figures = new double[4][];
    for (int i = 0; i < 4; i++) {
      figures[i] = random.doubles(layers, 0.1, 1).toArray();
    }
    Arrays.setAll(figures[3], layer -> figures[3][layer] / 20); // so that runs pay
    LayerCosts costs = new LayerCosts(figures[0], figures[1], figures[2], figures[3]);
    TradeOffs tradeOffs = TradeOffs.of(costs, 1e9);
    double all = costs.input()[0] + costs.keptBytes();
    double before = Double.POSITIVE_INFINITY;
    for (double share : new double[] {0.15, 0.3, 0.5, 0.7, 0.9}) {
      TradeOffs.Choice found = tradeOffs.choice(0, layers, 3, 3 * all * share).orElseThrow();
      PartlyKept priced = PartlyKept.of(costs, found.again());
      assertTrue(priced.peakBytes(3) <= 3 * all * share * (1 + 1e-12));
      assertEquals(priced.extraSeconds(), found.extraSeconds(), 1e-9);
      assertTrue(found.extraSeconds() < before);
      double least = tradeOffs.atLeast(0, layers, 3, 3 * all * share);
      double extra = tradeOffs.extraSeconds(0, layers, 3, 3 * all * share);
      assertEquals(found.extraSeconds(), extra);
      assertTrue(least <= extra && extra < 1.5 * least, least + " but " + extra);
      before = found.extraSeconds();
    }
    assertFalse(tradeOffs.exact());
  }
}

package dev.pipewright.planner.recompute;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.plan.LayerRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class StageCheckpointsTest {
  /** All ways to choose runs, the referee: the least extra time among those that fit. */
  private static double exhaustive(LayerCosts costs, int inFlight, double bytes) {
    return exhaustive(costs, inFlight, bytes, 0, new ArrayList<>());
  }

  private static double exhaustive(
      LayerCosts costs, int inFlight, double bytes, int layer, List<LayerRange> again) {
    if (layer == costs.size()) {
      PartlyKept priced = PartlyKept.of(costs, again);
      return priced.peakBytes(inFlight) <= bytes * (1 + 1e-12)
          ? priced.extraSeconds()
          : Double.POSITIVE_INFINITY;
    }
    double best = exhaustive(costs, inFlight, bytes, layer + 1, again);
    for (int last = layer; last < costs.size(); last++) {
      again.add(new LayerRange(layer, last));
      best = Math.min(best, exhaustive(costs, inFlight, bytes, last + 1, again));
      again.remove(again.size() - 1);
    }
    return best;
  }

  /** The bytes are such that a slot is a part of a byte, so that nothing is lost to rounding. */
  @RepeatedTest(200)
  void noChoiceIsFaster(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerCosts costs = OptimalCheckpointsTest.random(random, random.nextInt(1, 8));
    int inFlight = random.nextInt(1, 5);
    int each = 1 << random.nextInt(0, 6); // of what remains for a micro-batch
    double bytes = inFlight * (each + costs.input()[0]);
    Optional<List<LayerRange>> found = StageCheckpoints.of(costs, inFlight, bytes);
    double optimum = exhaustive(costs, inFlight, bytes);
    assertEquals(optimum < Double.POSITIVE_INFINITY, found.isPresent());
    if (found.isPresent()) {
      PartlyKept priced = PartlyKept.of(costs, found.get());
      assertTrue(priced.peakBytes(inFlight) <= bytes + 1e-9);
      assertEquals(optimum, priced.extraSeconds(), 1e-9);
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
    StageCheckpoints.of(costs, 1, bytes + costs.input()[0])
        .ifPresent(found ->
            assertTrue(
                nested.seconds(0, costs.size() - 1, room)
                    <= costs.seconds() + PartlyKept.of(costs, found).extraSeconds() + 1e-9));
  }

  @Test
  void keepsWhatFitsAndComputesTheRestAgain() {
    double[] ones = {1, 1, 1, 1};
    LayerCosts costs = new LayerCosts(ones, ones, new double[] {8, 8, 8, 8}, ones);
    List<LayerRange> found = StageCheckpoints.of(costs, 2, 2 * (16 + 1)).orElseThrow();
    assertEquals(List.of(new LayerRange(0, 1)), found);
    // What the last layers kept is gone when the first run again.
    assertEquals(new PartlyKept(1 + 16, 0, 2), PartlyKept.of(costs, found));
  }

  @Test
  void emptyWhereNotEvenInputsFit() {
    double[] ones = {1, 1};
    LayerCosts costs = new LayerCosts(ones, ones, ones, ones);
    assertEquals(Optional.empty(), StageCheckpoints.of(costs, 3, 2.9));
  }
}

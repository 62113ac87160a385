package dev.pipewright.schedule.periodic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PatternTest {
  @Test
  void saysWhichOpsAreEarlyAndWhichOverlap() {
    List<RepeatedOp> ops =
        List.of(
            new RepeatedOp(Pass.FORWARD, 0, 0, 0),
            new RepeatedOp(Pass.FORWARD, 1, 0.5, 0),
            new RepeatedOp(Pass.BACKWARD, 1, 1, -1),
            new RepeatedOp(Pass.BACKWARD, 0, 1.5, -2));
    Pattern pattern = Pattern.of(Placement.straight(2), Loads.equal(2), 2, 1, ops);
    List<String> said = PatternCheck.check(pattern).stream().map(Object::toString).toList();
    assertEquals(
        List.of(
            "F2^2 starts 0.5 s before F1^2 has ended",
            "rank 0 starts F1^2 0.5 s before B1^0 has ended",
            "rank 1 starts B2^1 0.5 s before F2^2 has ended"),
        said);
  }

  @Test
  void refusesAPatternThatLeavesABatchOut() {
    List<RepeatedOp> ops =
        List.of(
            new RepeatedOp(Pass.FORWARD, 0, 0, 0),
            new RepeatedOp(Pass.BACKWARD, 0, 1, 0),
            new RepeatedOp(Pass.FORWARD, 0, 2, 2),
            new RepeatedOp(Pass.BACKWARD, 0, 3, 1));
    var error =
        assertThrows(
            IllegalArgumentException.class,
            () -> Pattern.of(Placement.straight(1), Loads.equal(1), 4, 2, ops));
    assertEquals("a batch meets an op twice: op=F1^2", error.getMessage());
  }

  @Test
  void refusesAPatternWithoutABackwardPass() {
    List<RepeatedOp> ops = List.of(new RepeatedOp(Pass.FORWARD, 0, 0, 0));
    var error =
        assertThrows(
            IllegalArgumentException.class,
            () -> Pattern.of(Placement.straight(1), Loads.equal(1), 2, 1, ops));
    assertEquals(
        "each stage has a forward and a backward per batch: ops=1, stages=1, batches=1",
        error.getMessage());
  }

  /** Patterns that run, one op of some of them moved: as many that run as that do not. */
  @RepeatedTest(200)
  void canRunWhereItsUnrollingCan(RepetitionInfo seed) {
    Pattern pattern = disturbed(seed.getCurrentRepetition());
    assertEquals(
        new ExplicitUnrolling(pattern).canRun(),
        PatternCheck.check(pattern).isEmpty(),
        pattern::toString);
  }

  @Test
  void halfOfTheDisturbedPatternsRun() {
    int run = 0;
    for (int seed = 1; seed <= 200; seed++) {
      run += PatternCheck.check(disturbed(seed)).isEmpty() ? 1 : 0;
    }
    assertTrue(50 <= run && run <= 150, "run=" + run);
  }

  @RepeatedTest(100)
  void holdsWhatItsUnrollingHolds(RepetitionInfo seed) {
    Pattern pattern = disturbed(seed.getCurrentRepetition());
    if (PatternCheck.check(pattern).isEmpty()) {
      ExplicitUnrolling unrolling = new ExplicitUnrolling(pattern);
      int[] held = pattern.concurrentActivations();
      for (int stage = 0; stage < held.length; stage++) {
        assertEquals(unrolling.mostHeld(stage), held[stage], pattern::toString);
      }
    }
  }

  private static Pattern disturbed(int seed) {
    var random = new SplittableRandom(seed);
    List<StageLoad> stages = Loads.whole(random, random.nextInt(1, 4), 3);
    double slack = random.nextInt(0, 6);
    int batches = random.nextInt(1, 3);
    double once = Loads.slowest(stages) + slack;
    Pattern pattern =
        batches == 1
            ? OneForwardOneBackwardStar.of(stages, once)
            : KPeriodic.of(stages, once, batches);
    List<RepeatedOp> ops = new ArrayList<>(pattern.ops());
    int moved = random.nextInt(ops.size());
    RepeatedOp op = ops.get(moved);
    if (random.nextInt(3) > 0) {
      boolean shifts = random.nextBoolean();
      int by = (random.nextBoolean() ? 1 : -1) * batches;
      double start = shifts ? op.start() : random.nextInt((int) pattern.period());
      ops.set(moved, new RepeatedOp(op.pass(), op.stage(), start, op.shift() + (shifts ? by : 0)));
    }
    return Pattern.of(pattern.placement(), stages, pattern.period(), pattern.batches(), ops);
  }

  /** Theorem 2, figure 5: a 3-partition fills the holes that the last layers leave. */
  @Test
  void aThreePartitionFillsBothRanks() {
    int parts = 2;
    int sum = 6;
    int[][] partition = {{1, 2, 3}, {2, 2, 2}};
    int layers = 6 * parts;
    int[] rankOf = new int[layers];
    double[] start = new double[layers];
    List<StageLoad> stages = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      boolean packed = parts <= layer && layer < 4 * parts;
      boolean last = layer >= 4 * parts;
      int part = (layer - parts) / 3;
      int member = (layer - parts) % 3;
      rankOf[layer] = packed || (last && layer % 2 == 1) ? 0 : 1;
      if (packed) {
        start[layer] = 2 * part * sum;
        for (int i = 0; i < member; i++) {
          start[layer] += partition[part][i];
        }
      } else {
        start[layer] = last ? (layer - 4 * parts) * sum : (2 * layer + 1) * sum;
      }
      int seconds = packed ? partition[part][member] : sum;
      stages.add(new StageLoad(seconds, 0, 0, last ? 1 : 0));
    }
    Pattern pattern = forwardsAt(start, stages, Placement.of(2, 1, rankOf), 2 * parts * sum);
    assertEquals(List.of(), PatternCheck.check(pattern));
    assertArrayEquals(new double[] {parts, parts}, pattern.bytes());
    assertEquals(2 * 2 * parts * sum, Loads.all(stages)); // no rank is ever idle
  }

  /**
   * Forward passes at their starts, each as soon as it can; backward passes, of no time, behind.
   */
  private static Pattern forwardsAt(
      double[] start, List<StageLoad> stages, Placement placement, double period) {
    List<RepeatedOp> ops = new ArrayList<>();
    double ready = 0;
    for (int layer = 0; layer < start.length; layer++) {
      double at = start[layer] + period * Math.ceil((ready - start[layer]) / period);
      ops.add(RepeatedOp.at(Pass.FORWARD, layer, 0, at, period, 1));
      ready = at + stages.get(layer).forwardSeconds();
    }
    for (int layer = 0; layer < start.length; layer++) {
      ops.add(RepeatedOp.at(Pass.BACKWARD, layer, 0, ready, period, 1));
    }
    return Pattern.of(placement, stages, period, 1, ops);
  }
}

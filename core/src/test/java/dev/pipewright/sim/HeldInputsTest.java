package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.RandomPrograms.Part;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.memory.RunMemory;
import dev.pipewright.sim.memory.StageBytes;
import dev.pipewright.trace.RankMemory;
import java.util.Arrays;
import java.util.Collections;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Peaks of activations where recomputation leaves only inputs. */
class HeldInputsTest {
  private static final double DUST = 1e-9;

  private static Run run(Schedule schedule) {
    return StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 1, 1, 0));
  }

  /** Ranks of 1F1B hold 3, 2 and 1 micro-batches; the one that goes backward is whole. */
  @Test
  void threeStagesByHand() {
    Schedule plain = OneForwardOneBackward.of(3, 6);
    Run all = run(Recomputed.of(plain, (stage, microBatch) -> true));
    assertArrayEquals(new double[] {1.5, 1.25, 1}, all.peakActivations(0.25));
    assertArrayEquals(new double[] {1, 1, 1}, all.peakActivations(0));
    assertArrayEquals(new double[] {3, 2, 1}, all.peakActivations(1));
    Run first = run(Recomputed.of(plain, (stage, microBatch) -> stage == 0));
    assertArrayEquals(new double[] {1.5, 2, 1}, first.peakActivations(0.25));
    assertArrayEquals(new double[] {3, 2, 1}, run(plain).peakActivations(0.25));
  }

  /**
   * Until the weights' gradient, which zb-h1 puts off on its last ranks, an activation is whole.
   */
  @Test
  void lateWeightGradientsKeepMoreThanInputs() {
    Run run = run(Recomputed.of(ZeroBubbleH1.of(3, 6), (stage, microBatch) -> true));
    assertEquals("[F0, F1, F2, R0, I0, W0]", begin(run, 0, 6));
    assertEquals("[F0, F1, R0, I0, F2, R1, I1, W0]", begin(run, 1, 8));
    assertEquals("[F0, R0, I0, F1, R1, I1, F2, R2, I2, W0]", begin(run, 2, 10));
    assertArrayEquals(new double[] {1.5, 2.25, 3}, run.peakActivations(0.25));
  }

  private static String begin(Run run, int rank, int ops) {
    return run.schedule().program(rank).subList(0, ops).toString();
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void thePeaksAreThoseOfTheMemoryOverTime(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule schedule =
        RandomPrograms.of(
            random, RandomPrograms.placement(random), random.nextInt(1, 8), Part.RECOMPUTED);
    Run run = run(schedule);
    double share = random.nextDouble();
    StageBytes bytes = new StageBytes(0, 0, 0, 1, share, 1, 0, 0);
    double[] peaks =
        RunMemory.of(run, Collections.nCopies(schedule.placement().depth(), bytes)).stream()
            .map(RankMemory::peak)
            .mapToDouble(RankMemory.Peak::bytes)
            .toArray();
    assertArrayEquals(peaks, run.peakActivations(share), DUST);
    double[] whole = Arrays.stream(run.peakActivations()).asDoubleStream().toArray();
    assertArrayEquals(whole, run.peakActivations(1));
  }

  @Test
  void anInputIsNoMoreThanAll() {
    Run run = run(OneForwardOneBackward.of(2, 2));
    for (double share : new double[] {-0.1, 1.1, Double.NaN}) {
      assertThrows(IllegalArgumentException.class, () -> run.peakActivations(share));
    }
  }
}

package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class CyclicMemoryTest {
  /** N equal stages: one more activation in each of N steps forward, one fewer in N back. */
  private static CyclicMemory equalStages(int stages) {
    double[] times = new double[2 * stages + 1];
    double[] bytes = new double[2 * stages + 1];
    for (int step = 0; step <= 2 * stages; step++) {
      times[step] = step;
      bytes[step] = step < stages ? step + 1 : 2 * stages - step;
    }
    return new CyclicMemory(times, bytes);
  }

  /** Table 1 of the paper: (N + 1)/2 instead of N. */
  @Test
  void equalStagesHoldHalfAsMuchAndHalfAStageMore() {
    for (int workers : new int[] {1, 2, 4, 8, 32}) {
      CyclicMemory memory = equalStages(workers);
      assertEquals(workers, memory.most());
      assertEquals((double) workers * workers, memory.inStep(workers));
      assertEquals((workers + 1) / 2.0 * workers, memory.cyclic(workers), 1e-9);
    }
  }

  /** Steps that fall together in truth and not in binary: 0.1 has no exact double. */
  @RepeatedTest(value = 40, name = "{currentRepetition} stages")
  void roundedTimesOfEqualStagesMakeNoPeaks(RepetitionInfo repetition) {
    int stages = repetition.getCurrentRepetition();
    double[] times = new double[2 * stages + 1];
    double[] bytes = new double[2 * stages + 1];
    for (double start : new double[] {0, 1.7e9}) {
      for (int step = 0; step <= 2 * stages; step++) {
        times[step] = start + step * 0.1;
        bytes[step] = step < stages ? step + 1 : 2 * stages - step;
      }
      double share = new CyclicMemory(times, bytes).cyclic(stages) / stages / stages;
      assertEquals((stages + 1) / (2.0 * stages), share, 1e-15);
    }
  }

  /** In the limit of many layers alike a worker in the middle of its ramp holds half. */
  @Test
  void aLinearRampTendsToHalf() {
    int samples = 100_000;
    double[] times = new double[samples + 1];
    double[] bytes = new double[samples + 1];
    for (int i = 0; i <= samples; i++) {
      times[i] = i;
      bytes[i] = Math.min(i, samples - i);
    }
    CyclicMemory memory = new CyclicMemory(times, bytes);
    for (int workers : new int[] {2, 4, 8, 32, 1000}) {
      double ratio = memory.cyclic(workers) / memory.inStep(workers);
      assertEquals(0.5, ratio, 2e-5, "workers: " + workers);
    }
    assertEquals(memory.most(), memory.cyclic(1));
  }

  private static CyclicMemory random(SplittableRandom random, boolean round) {
    int samples = random.nextInt(2, 12);
    double[] times = new double[samples];
    double[] bytes = new double[samples];
    for (int i = 0; i < samples; i++) {
      times[i] =
          i == 0
              ? random.nextInt(-5, 6)
              : times[i - 1] + (round ? random.nextInt(1, 4) : random.nextDouble());
      bytes[i] = round ? random.nextInt(10) : random.nextDouble();
    }
    return new CyclicMemory(times, bytes);
  }

  private static double sum(CyclicMemory memory, int workers, double time) {
    double sum = 0;
    for (int worker = 0; worker < workers; worker++) {
      sum += memory.at(time + worker * memory.period() / workers);
    }
    return sum;
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void isTheSumOfAllWorkersAtAnyTime(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    boolean round = random.nextBoolean();
    CyclicMemory memory = random(random, round);
    int workers = random.nextInt(1, 9);
    CyclicMemory together = memory.together(workers);
    assertEquals(memory.period() / workers, together.period(), 1e-12);
    double[] times = together.times();
    double most = 0;
    for (int i = 0; i < times.length; i++) { // in the middle of every step no rounding decides
      double until = i + 1 < times.length ? times[i + 1] : together.period();
      double middle = (times[i] + until) / 2;
      double sum = sum(memory, workers, middle);
      assertEquals(sum, together.at(middle), 1e-12);
      most = Math.max(most, sum);
    }
    assertEquals(most, memory.cyclic(workers), 1e-12);
    assertTrue(most <= memory.inStep(workers) * (1 + 1e-12));
    for (int i = 0; i < 2000; i++) {
      assertTrue(sum(memory, workers, memory.period() * (i + 0.4567) / 2000) <= most + 1e-12);
    }
    assertEquals(workers * mean(memory), mean(together), 1e-9);
    assertTrue(most >= mean(together) - 1e-12);
  }

  private static double mean(CyclicMemory curve) {
    double[] times = curve.times();
    double area = 0;
    for (int i = 0; i < times.length; i++) {
      double until = i + 1 < times.length ? times[i + 1] : curve.period();
      area += (until - times[i]) * curve.at((times[i] + until) / 2);
    }
    return area / curve.period();
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void theMostOfAnIntervalIsThatOfItsTimes(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    CyclicMemory memory = random(random, true);
    double from = random.nextInt(-20, 20);
    double to = from + random.nextInt(1, 20);
    double most = 0;
    for (double time = from; time < to; time += 0.5) { // the curve changes at whole seconds only
      most = Math.max(most, memory.at(time));
    }
    assertEquals(most, memory.most(from, to));
  }

  @Test
  void aHundredThousandSamplesOfManyWorkersAreAdded() {
    SplittableRandom random = new SplittableRandom(1);
    double[] times = random.doubles(100_000, 1e-6, 1e-5).toArray();
    for (int i = 1; i < times.length; i++) {
      times[i] += times[i - 1];
    }
    CyclicMemory memory = new CyclicMemory(times, random.doubles(times.length, 0, 1e9).toArray());
    double most = memory.cyclic(32);
    assertTrue(most >= 16e9 * 0.9 && most <= 32e9, "most: " + most);
  }

  @Test
  void oneWorkerHoldsItsCurve() {
    CyclicMemory memory = new CyclicMemory(new double[] {5, 6, 8}, new double[] {3, 7, 0});
    assertEquals(3, memory.period());
    assertEquals(3, memory.at(0.5));
    assertEquals(7, memory.at(1));
    assertEquals(3, memory.at(3));
    assertEquals(7, memory.at(-0.5));
    assertEquals(7, memory.cyclic(1));
  }

  @Test
  void curvesThatAreNoneAreRefused() {
    double[] two = {0, 1};
    assertThrows(IllegalArgumentException.class, () -> new CyclicMemory(two, new double[] {1}));
    assertThrows(IllegalArgumentException.class, () -> new CyclicMemory(new double[] {1, 1}, two));
    assertThrows(IllegalArgumentException.class, () -> new CyclicMemory(two, new double[] {-1, 0}));
    assertThrows(IllegalArgumentException.class, () -> new CyclicMemory(new double[] {1}, two));
    double[] endless = {0, Double.POSITIVE_INFINITY};
    assertThrows(IllegalArgumentException.class, () -> new CyclicMemory(endless, two));
    assertThrows(IllegalArgumentException.class, () -> new CyclicMemory(two, two).together(0));
  }
}

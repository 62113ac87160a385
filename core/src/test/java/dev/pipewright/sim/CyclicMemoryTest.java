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

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void isNoLessThanAtAnyTimeAndNoMoreThanInStep(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int samples = random.nextInt(2, 12);
    double[] times = random.doubles(samples, 0.01, 1).toArray();
    for (int i = 1; i < samples; i++) {
      times[i] += times[i - 1];
    }
    CyclicMemory memory = new CyclicMemory(times, random.doubles(samples).toArray());
    int workers = random.nextInt(1, 9);
    double most = memory.cyclic(workers);
    assertTrue(most <= memory.inStep(workers) * (1 + 1e-12));
    double mean = 0;
    for (int i = 0; i < 2000; i++) {
      double now = memory.together(workers, memory.period() * i / 2000);
      assertTrue(now <= most + 1e-12);
      mean += now / 2000;
    }
    assertTrue(most >= mean - 1e-12);
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
  }
}

package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import org.junit.jupiter.api.Test;

class QuietQuartileTest {
  private static int[] of(long... stolen) {
    return QuietQuartile.of(stolen);
  }

  @Test
  void allAreWhereNothingIsStolen() {
    assertArrayEquals(new int[] {0, 1, 2, 3, 4, 5, 6, 7}, of(0, 0, 0, 0, 0, 0, 0, 0));
    assertArrayEquals(new int[] {0}, of(7));
  }

  @Test
  void atLeastThree() {
    assertArrayEquals(new int[] {1, 2, 4}, of(9, 1, 2, 8, 3, 7));
    assertArrayEquals(new int[] {0, 1}, of(9, 1));
  }

  @Test
  void aQuarterOfMany() {
    long[] stolen = new long[40];
    for (int i = 0; i < stolen.length; i++) {
      stolen[i] = (long) stolen.length - i;
    }
    assertArrayEquals(new int[] {30, 31, 32, 33, 34, 35, 36, 37, 38, 39}, QuietQuartile.of(stolen));
  }

  /** Of five from which nothing is stolen the three shortest; the shortest of all was disturbed. */
  @Test
  void theShorterHalfOfThem() {
    double[] seconds = {5, 4, 1, 3, 6, 2};
    assertArrayEquals(
        new int[] {5, 3, 1}, QuietQuartile.shorter(seconds, new long[] {0, 0, 7, 0, 0, 0}));
    assertArrayEquals(new int[] {0}, QuietQuartile.shorter(new double[] {1}, new long[] {9}));
  }

  @Test
  void whoLosesNoMoreIsAmongThem() {
    assertArrayEquals(new int[] {0, 2, 3, 5}, of(1, 4, 1, 0, 5, 1));
  }
}

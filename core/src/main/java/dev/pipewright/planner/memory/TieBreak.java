package dev.pipewright.planner.memory;

import java.util.Arrays;

/** Which of several partitions with the same peak to take. */
public enum TieBreak {
  /** The first that the search comes to. */
  NONE,
  /**
   * mCAP's: the one whose second fullest stage holds least, then the third fullest, and so on; the
   * emptiest stage is not looked at. Of those that are left the one whose first stage has the
   * fewest layers, then the second, and so on.
   */
  NEXT_PEAKS;

  /** The bytes of stages, fullest first. */
  static double[] descending(double[] bytes) {
    double[] sorted = bytes.clone();
    Arrays.sort(sorted);
    for (int low = 0, high = sorted.length - 1; low < high; low++, high--) {
      double swapped = sorted[low];
      sorted[low] = sorted[high];
      sorted[high] = swapped;
    }
    return sorted;
  }

  /** Compares the first {@code count} of two descending lists. */
  static int compare(double[] a, double[] b, int count) {
    for (int i = 0; i < count; i++) {
      int order = Double.compare(a[i], b[i]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  /** How many of the fullest stages are compared: all but the emptiest. */
  static int compared(int stages) {
    return Math.max(1, stages - 1);
  }
}

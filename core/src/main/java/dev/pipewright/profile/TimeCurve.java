package dev.pipewright.profile;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Sizes and times of single steps, ascending by size. */
record TimeCurve(double[] bytes, double[] seconds) {
  static TimeCurve of(List<CollectiveTiming> timings) {
    List<CollectiveTiming> sorted =
        timings.stream().sorted(Comparator.comparingDouble(CollectiveTiming::stepBytes)).toList();
    return new TimeCurve(
        sorted.stream().mapToDouble(CollectiveTiming::stepBytes).toArray(),
        sorted.stream().mapToDouble(CollectiveTiming::stepSeconds).toArray());
  }

  int count() {
    return bytes.length;
  }

  /** The points where a new size begins, and the number of points after them. */
  int[] sizeStarts() {
    int[] starts = new int[bytes.length + 1];
    int sizes = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (i == 0 || bytes[i] > bytes[i - 1]) {
        starts[sizes++] = i;
      }
    }
    starts[sizes] = bytes.length;
    return Arrays.copyOf(starts, sizes + 1);
  }
}

package dev.pipewright.planner.memory;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The referee: every partition, ranked by mCAP's rule as its paper words it, round by round. */
final class EveryPartition {
  private EveryPartition() {}

  /** In dictionary order. */
  static List<int[]> of(int layers, int stages) {
    List<int[]> found = new ArrayList<>();
    for (int cuts = 0; cuts < 1 << (layers - 1); cuts++) {
      if (Integer.bitCount(cuts) == stages - 1) {
        int[] sizes = new int[stages];
        int stage = 0;
        for (int layer = 0; layer < layers; layer++) {
          sizes[stage]++;
          stage += layer < layers - 1 && (cuts >> layer & 1) == 1 ? 1 : 0;
        }
        found.add(sizes);
      }
    }
    found.sort(java.util.Arrays::compare);
    return found;
  }

  /** The best; empty where every partition is impossible. */
  static int[] best(StagePeak peaks, int layers, int stages) {
    List<int[]> left = of(layers, stages);
    left.removeIf(sizes -> peak(peaks, sizes, 0) == Double.POSITIVE_INFINITY);
    for (int round = 0; round < Math.max(1, stages - 1) && left.size() > 1; round++) {
      int without = round;
      double least =
          left.stream().mapToDouble(sizes -> peak(peaks, sizes, without)).min().orElseThrow();
      left.removeIf(sizes -> peak(peaks, sizes, without) > least);
    }
    return left.isEmpty() ? new int[0] : left.get(0);
  }

  /** The most that a stage holds, leaving out so many of the fullest. */
  static double peak(StagePeak peaks, int[] sizes, int without) {
    List<Double> bytes = new ArrayList<>();
    for (double stage : peaks.bytes(sizes)) {
      bytes.add(stage);
    }
    for (int i = 0; i < without; i++) {
      bytes.remove(Collections.max(bytes));
    }
    return Collections.max(bytes);
  }
}

package dev.pipewright.planner.partition;

import dev.pipewright.units.Check;

/** Weights of a chain's items, and of runs of them. */
final class PrefixSums {
  private final double[] before;
  final double largest;

  PrefixSums(double[] weights) {
    before = new double[weights.length + 1];
    double most = 0;
    for (int i = 0; i < weights.length; i++) {
      before[i + 1] = before[i] + Check.amount(weights[i], "weight");
      most = Math.max(most, weights[i]);
    }
    largest = most;
  }

  int size() {
    return before.length - 1;
  }

  /** Of the items {@code from..end-1}. */
  double sum(int from, int end) {
    return before[end] - before[from];
  }

  double total() {
    return before[before.length - 1];
  }

  /** The largest {@code end} in {@code from..limit} with a sum of at most {@code most}. */
  int reach(int from, int limit, double most) {
    int low = from;
    int high = limit;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (sum(from, middle) <= most) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}

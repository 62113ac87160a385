package dev.pipewright.planner.alpa;

import dev.pipewright.planner.alpa.InterOperatorPlanner.Stage;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Partial pipelines of which none has both a smaller sum and a smaller maximum than another. */
final class Pairs {
  /** A stage and those behind it. */
  record Step(Stage stage, @Nullable Step after) {}

  private double[] sums = new double[4]; // ascending
  private double[] maxima = new double[4]; // descending
  private @Nullable Step[] steps = new @Nullable Step[4];
  private int size;

  int size() {
    return size;
  }

  double sum(int i) {
    return sums[i];
  }

  double most(int i) {
    return maxima[i];
  }

  /** The stages of a pair; null where it has none yet. */
  @Nullable Step step(int i) {
    return steps[i];
  }

  /** Whether no pair is at least as good in both. */
  boolean isWorthKeeping(double sum, double most) {
    int at = after(sum);
    return at == 0 || maxima[at - 1] > most;
  }

  /** Adds a pair that is worth keeping and drops those that it makes useless. */
  void offer(double sum, double most, @Nullable Step step) {
    int at = after(sum);
    if (at > 0 && sums[at - 1] == sum) {
      at--; // worse, or it would not be worth keeping
    }
    int next = at;
    while (next < size && maxima[next] >= most) {
      next++;
    }
    int grown = size + 1 - (next - at);
    if (grown > sums.length) {
      sums = Arrays.copyOf(sums, 2 * sums.length);
      maxima = Arrays.copyOf(maxima, 2 * maxima.length);
      steps = Arrays.copyOf(steps, 2 * steps.length);
    }
    System.arraycopy(sums, next, sums, at + 1, size - next);
    System.arraycopy(maxima, next, maxima, at + 1, size - next);
    System.arraycopy(steps, next, steps, at + 1, size - next);
    sums[at] = sum;
    maxima[at] = most;
    steps[at] = step;
    size = grown;
  }

  /** How many sums are not larger. */
  private int after(double sum) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sums[middle] <= sum) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

package dev.pipewright.planner.recompute;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The fastest way to run every part of a chain forward and backward once within a memory limit:
 * which layers keep their activations, which inputs are kept as checkpoints, and what runs again.
 *
 * <p>Paper: O. Beaumont, L. Eyraud-Dubois, J. Herrmann, A. Joly, A. Shilova, <i>Optimal
 * checkpointing for heterogeneous chains</i>, RR-9302, 2019 (the program rotor), theorem 1: optimal
 * among the ways that hold a kept value until its backward pass. Its ω_a, ω_ā are our {@code input}
 * and {@code kept}.
 *
 * <p>O(layers³ · slots) time, O(layers² · slots) memory, once; then O(1) for each part and limit.
 * Memory is counted in slots, sizes rounded up, so what fits here fits. Departs: gradients of
 * activations are not counted, as in the rest of Pipewright's memory model.
 */
public final class OptimalCheckpoints {
  private static final long MOST_CELLS = 40_000_000;

  private final LayerCosts costs;
  private final int slots;
  private final double slotBytes;
  private final int[] kept; // slots, by layer
  private final int[] input; // slots, by layer
  private final double[] forwardUpTo; // seconds of the layers before
  private final double[][] seconds; // by part; by slots
  private final short[][] choices; // KEEP, or the layer whose input is the next checkpoint

  private static final short KEEP = -1;
  private static final short NONE = -2;

  /**
   * Solves all parts of the chain for all limits up to {@code bytes}.
   *
   * @param bytes the largest limit of interest
   * @param slots into which it is cut
   */
  public OptimalCheckpoints(LayerCosts costs, double bytes, int slots) {
    int layers = costs.size();
    Check.that(slots >= 1, "memory has slots: slots=%d", slots);
    Check.that(bytes >= 0 && bytes < 1e300, "memory is not negative: bytes=%s", bytes);
    Check.that(
        (long) layers * layers / 2 * slots <= MOST_CELLS,
        "too many layers to solve all parts, join some: layers=%d, slots=%d",
        layers,
        slots);
    this.costs = costs;
    this.slots = slots;
    slotBytes = bytes > 0 ? bytes / slots : 1;
    kept = inSlots(costs.kept());
    input = inSlots(costs.input());
    forwardUpTo = new double[layers + 1];
    for (int layer = 0; layer < layers; layer++) {
      forwardUpTo[layer + 1] = forwardUpTo[layer] + costs.forward()[layer];
    }
    seconds = new double[layers * layers][];
    choices = new short[layers * layers][];
    for (int length = 1; length <= layers; length++) {
      for (int first = 0; first + length <= layers; first++) {
        solve(first, first + length - 1);
      }
    }
  }

  private int[] inSlots(double[] bytes) {
    int[] counts = new int[bytes.length];
    for (int i = 0; i < counts.length; i++) {
      double exact = bytes[i] / slotBytes;
      counts[i] = (int) Math.min(slots + 1.0, Math.ceil(exact - 1e-9 * Math.max(1, exact)));
    }
    return counts;
  }

  private int part(int first, int last) {
    return first * costs.size() + last;
  }

  private void solve(int first, int last) {
    double[] best = new double[slots + 1];
    short[] choice = new short[slots + 1];
    Arrays.fill(best, Double.POSITIVE_INFINITY);
    Arrays.fill(choice, NONE);
    keep(first, last, best, choice);
    int passing = 0; // slots while forward passes run on and leave nothing but the checkpoint
    for (int next = first + 1; next <= last; next++) {
      passing = Math.max(passing, input[next] + (next - 1 > first ? input[next - 1] : 0));
      double forward = forwardUpTo[next] - forwardUpTo[first];
      double[] after = seconds[part(next, last)];
      double[] before = seconds[part(first, next - 1)];
      for (int m = Math.max(passing, input[next]); m <= slots; m++) {
        double total = forward + after[m - input[next]] + before[m];
        if (total < best[m]) {
          best[m] = total;
          choice[m] = (short) next;
        }
      }
    }
    seconds[part(first, last)] = best;
    choices[part(first, last)] = choice;
  }

  private void keep(int first, int last, double[] best, short[] choice) {
    double alone = costs.forward()[first] + costs.backward()[first];
    for (int m = kept[first]; m <= slots; m++) {
      best[m] = alone + (first == last ? 0 : seconds[part(first + 1, last)][m - kept[first]]);
      choice[m] = KEEP;
    }
  }

  /**
   * Seconds of the layers {@code first..last}, forward and backward, where their input is there and
   * {@code bytes} are free; infinite where that is too little.
   */
  public double seconds(int first, int last, double bytes) {
    int m = free(bytes);
    return m < 0 ? Double.POSITIVE_INFINITY : seconds[part(first, last)][m];
  }

  /** Whole slots in so many bytes. */
  private int free(double bytes) {
    double exact = bytes / slotBytes;
    return (int) Math.min(slots, Math.floor(exact + 1e-9 * Math.max(1, exact)));
  }

  /** The least limit, in whole slots, with which the layers can run; infinite for none. */
  public double leastBytes(int first, int last) {
    double[] of = seconds[part(first, last)];
    for (int m = 0; m <= slots; m++) {
      if (of[m] < Double.POSITIVE_INFINITY) {
        return m * slotBytes;
      }
    }
    return Double.POSITIVE_INFINITY;
  }

  /** What runs in which order; empty where the bytes are too few. */
  public List<Step> steps(int first, int last, double bytes) {
    List<Step> steps = new ArrayList<>();
    if (seconds(first, last, bytes) < Double.POSITIVE_INFINITY) {
      add(first, last, free(bytes), steps);
    }
    return steps;
  }

  private void add(int first, int last, int m, List<Step> steps) {
    short choice = choices[part(first, last)][m];
    if (choice == KEEP) {
      steps.add(new Step(Step.Kind.KEEP, first));
      if (first < last) {
        add(first + 1, last, m - kept[first], steps);
      }
      steps.add(new Step(Step.Kind.BACKWARD, first));
      return;
    }
    for (int layer = first; layer < choice; layer++) {
      steps.add(new Step(layer == first ? Step.Kind.CHECKPOINT : Step.Kind.PASS, layer));
    }
    add(choice, last, m - input[choice], steps);
    add(first, choice - 1, m, steps);
  }
}

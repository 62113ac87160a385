package dev.pipewright.planner;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleBiFunction;

/**
 * Seconds that no step of a schedule with a known order of work is shorter than, however its layers
 * are cut: the mean over the ranks of what each takes at least ({@link WorkOrder}).
 *
 * <p>The mean is linear in what the stages take, so a dynamic program over stages finds the cut
 * with the least, whole layers in each stage: O(stages · layers), or O(layers²) for stages whose
 * sums of gradients come last. A cut that one count of a rank's work allows may be long by another:
 * of both counts every mixture holds, too, and the best one is nearly the least that both allow.
 *
 * @param loads of the grid, with split backward passes where the schedule splits them
 * @param ends of stages
 * @param send seconds of a message by sending and receiving rank, at least
 */
record OrderBound(LayerLoads loads, StageEnds ends, ToDoubleBiFunction<Integer, Integer> send) {
  private static final int TRIES = 10; // of mixtures

  /**
   * By several counts of the work of the same schedule, and the highest mixed with the others.
   *
   * @param enough no higher bound is asked for
   */
  double seconds(List<WorkOrder> orders, int ranks, double enough) {
    List<WorkOrder> sorted =
        orders.stream()
            .sorted(Comparator.comparingDouble(order -> -seconds(order, ranks)))
            .toList();
    double best = orders.isEmpty() ? 0 : seconds(sorted.get(0), ranks);
    for (int other = 1; other < sorted.size() && best < enough; other++) {
      best = Math.max(best, mixed(sorted.get(0), sorted.get(other), ranks, enough));
    }
    return best;
  }

  /**
   * The highest of all mixtures, by golden sections: what is least over cuts is concave in them.
   */
  private double mixed(WorkOrder one, WorkOrder other, int ranks, double enough) {
    return GoldenSections.highest(
        part -> seconds(one.mixed(part, other), ranks), 0, 1, TRIES, enough);
  }

  /** Of a step on so many ranks. */
  double seconds(WorkOrder order, int ranks) {
    int size = loads.size();
    double[] before = new double[size + 1];
    Arrays.fill(before, Double.POSITIVE_INFINITY);
    before[0] = 0;
    boolean left = Arrays.stream(ends.rest()).anyMatch(rest -> rest > 0);
    for (int stage = 0; stage < order.stages(); stage++) {
      int most = size - (order.stages() - 1 - stage); // later stages have layers, too
      boolean last = left && order.last()[stage] > 0;
      before = last ? ending(order, stage, most, before) : extended(order, stage, most, before);
    }
    return (before[size] + sends(order.sends())) / ranks;
  }

  /** The least with a stage more, by where it ends. */
  private double[] extended(WorkOrder order, int stage, int most, double[] before) {
    double[] after = new double[before.length];
    Arrays.fill(after, Double.POSITIVE_INFINITY);
    double begun = Double.POSITIVE_INFINITY; // the least so far less the runs before the stage
    double sum = 0;
    for (int first = stage; first < most; first++) {
      begun = Math.min(begun, before[first] - sum);
      sum += run(order, stage, first);
      after[first + 1] = begun + sum;
    }
    return after;
  }

  /**
   * The same where nothing is computed after the stage's last backward pass: it can hide no sum of
   * its first run, and of the others no more than it takes itself.
   */
  private double[] ending(WorkOrder order, int stage, int most, double[] before) {
    double[] after = new double[before.length];
    Arrays.fill(after, Double.POSITIVE_INFINITY);
    for (int first = stage; first < most; first++) {
      double sum = before[first];
      double rest = 0;
      double pass = 0;
      double weights = 0;
      for (int at = first; at < most; at++) {
        sum += run(order, stage, at);
        rest += ends.rest()[at];
        pass += loads.backward()[at];
        weights += Math.min(loads.weights()[at], loads.backward()[at]);
        double whole = Math.max(ends.rest()[first], ends.left(rest, pass));
        double split = Math.max(ends.rest()[first], ends.left(rest, weights));
        double left = order.whole()[stage] * (whole - split) + order.last()[stage] * split;
        after[at + 1] = Math.min(after[at + 1], sum + left);
      }
    }
    return after;
  }

  private double sends(double[][] count) {
    double seconds = 0;
    for (int from = 0; from < count.length; from++) {
      for (int to = 0; to < count.length; to++) {
        seconds +=
            count[from][to] == 0 || from == to ? 0 : count[from][to] * send.applyAsDouble(from, to);
      }
    }
    return seconds;
  }

  private double run(WorkOrder order, int stage, int at) {
    double weights = loads.weights()[at];
    return order.forward()[stage] * loads.forward()[at]
        + order.inputs()[stage] * Math.max(0, loads.backward()[at] - weights)
        + order.weights()[stage] * Math.min(weights, loads.backward()[at])
        + order.sums()[stage] * ends.tail()[at]
        + order.exchanges()[stage] * ends.exchanges()[at];
  }
}

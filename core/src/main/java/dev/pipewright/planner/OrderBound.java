package dev.pipewright.planner;

import java.util.Arrays;
import java.util.function.ToDoubleBiFunction;

/**
 * Seconds that no step of a schedule with a known order of work is shorter than, however its layers
 * are cut: the mean over the ranks of what each takes at least ({@link WorkOrder}).
 *
 * <p>The mean is linear in what the stages take, so a dynamic program over stages finds the cut
 * with the least, whole layers in each stage: O(stages · layers).
 *
 * @param loads of the grid, with split backward passes where the schedule splits them
 * @param ends of stages
 * @param send seconds of a message by sending and receiving rank, at least
 */
record OrderBound(LayerLoads loads, StageEnds ends, ToDoubleBiFunction<Integer, Integer> send) {

  /** Of a step on so many ranks. */
  double seconds(WorkOrder order, int ranks) {
    int size = loads.size();
    double[] before = new double[size + 1];
    Arrays.fill(before, Double.POSITIVE_INFINITY);
    before[0] = 0;
    for (int stage = 0; stage < order.stages(); stage++) {
      double[] after = new double[size + 1];
      Arrays.fill(after, Double.POSITIVE_INFINITY);
      double begun = Double.POSITIVE_INFINITY; // the least so far less the runs before the stage
      double sum = 0;
      int most = size - (order.stages() - 1 - stage); // later stages have layers, too
      for (int first = stage; first < most; first++) {
        begun = Math.min(begun, before[first] + order.last()[stage] * ends.rest()[first] - sum);
        sum += run(order, stage, first);
        after[first + 1] = begun + sum;
      }
      before = after;
    }
    return (before[size] + sends(order.sends())) / ranks;
  }

  private double sends(int[][] count) {
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

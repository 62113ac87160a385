package dev.pipewright.cost;

import java.util.function.IntToDoubleFunction;

/**
 * All-reduce of gradients overlapped with the backward pass of the last micro-batch: each layer's
 * gradient goes out, in order, once it exists and the network is free (Poseidon; DAPPLE §VI-C "DP
 * overlap").
 */
public final class GradientOverlap {
  private GradientOverlap() {}

  /**
   * Seconds by which all-reduce lengthens the backward pass of a stage: what is left when that has
   * ended, and what computing loses to it before ({@link dev.pipewright.cluster.Software#overlap}).
   *
   * @param slowdown how much slower than the profile's device the slowest device of the stage is
   */
  public static double exposedSeconds(
      StageCosts costs, int first, int end, int slice, double slowdown, Collectives group) {
    double[] gradients = costs.gradientBytes();
    return exposedSeconds(
        costs,
        first,
        end,
        slice,
        slowdown,
        position -> group.allReduce(gradients[end] - gradients[position]));
  }

  /**
   * The same however gradients are summed.
   *
   * @param seconds for the gradients of all positions from one on
   */
  public static double exposedSeconds(
      StageCosts costs,
      int first,
      int end,
      int slice,
      double slowdown,
      IntToDoubleFunction seconds) {
    double[] backward = costs.backwardSeconds(slice);
    double total = seconds.applyAsDouble(first);
    double networkFree = 0;
    double finished = (backward[end] - backward[first]) * slowdown;
    double sent = 0; // seconds of what is on its way
    for (int position = end - 1; position >= first; position--) {
      double all = Math.max(sent, seconds.applyAsDouble(position));
      double ready = (backward[end] - backward[position]) * slowdown;
      networkFree = Math.max(networkFree, ready) + all - sent;
      sent = all;
    }
    double left = Math.min(total, Math.max(0, networkFree - finished));
    double overlap = costs.workload().cluster().software().overlap();
    return left + (1 - overlap) * (total - left);
  }
}

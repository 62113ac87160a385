package dev.pipewright.cost;

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
    double[] backward = costs.backwardSeconds(slice);
    double[] parameters = costs.parameterBytes();
    double total = group.allReduce(parameters[end] - parameters[first]);
    double networkFree = 0;
    double finished = (backward[end] - backward[first]) * slowdown;
    double sent = 0; // bytes that are on their way
    for (int position = end - 1; position >= first; position--) {
      double bytes = Math.max(sent, parameters[end] - parameters[position]);
      double ready = (backward[end] - backward[position]) * slowdown;
      double share = group.allReduce(bytes) - group.allReduce(sent);
      networkFree = Math.max(networkFree, ready) + share;
      sent = bytes;
    }
    double left = Math.min(total, Math.max(0, networkFree - finished));
    double overlap = costs.workload().cluster().software().overlap();
    return left + (1 - overlap) * (total - left);
  }
}

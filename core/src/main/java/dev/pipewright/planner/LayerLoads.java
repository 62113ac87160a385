package dev.pipewright.planner;

import java.util.Arrays;

/**
 * What the layers between the cuts that pipelines may have cost a tensor-parallel group of the
 * fastest devices, for one size of slices: seconds of a micro-batch, its exchanges included.
 *
 * @param forward by run of layers, as all others
 * @param backward without recomputation
 * @param halves the backward pass where the schedule splits it, both halves, at least
 * @param weights the half of it that the weights' gradients take
 * @param kept bytes of a micro-batch in flight on each device
 * @param own bytes of a device's weights that only its replicas have, as layers know them
 * @param shared bytes of weights that all devices of a rank have and sum the gradients of
 * @param update seconds of the optimizer's step
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record LayerLoads(
    double[] forward,
    double[] backward,
    double[] halves,
    double[] weights,
    double[] kept,
    double[] own,
    double[] shared,
    double[] update) {
  int size() {
    return forward.length;
  }

  /** Seconds of both passes over a micro-batch. */
  double passes() {
    return sum(forward) + sum(backward);
  }

  /** Of a schedule that splits backward passes, or does not. */
  LayerLoads split(boolean splits) {
    return splits
        ? new LayerLoads(forward, halves, halves, weights, kept, own, shared, update)
        : this;
  }

  /**
   * Seconds of each run of layers by what each byte of its weights takes.
   *
   * @param each of those that only replicas have
   * @param all of those that all devices of a rank have
   */
  double[] ofBytes(double each, double all) {
    double[] seconds = new double[size()];
    Arrays.setAll(seconds, at -> own[at] * each + shared[at] * all);
    return seconds;
  }

  /** Seconds of both passes over a run of layers. */
  double passes(int at) {
    return forward[at] + backward[at];
  }

  static double sum(double[] figures) {
    double sum = 0;
    for (double each : figures) {
      sum += each;
    }
    return sum;
  }
}

package dev.pipewright.formats.sweep;

import java.util.OptionalDouble;

/**
 * What a sweep keeps of a plan.
 *
 * @param planner that found it
 * @param objective what it was searched for, as answers name it: {@code step_s}
 * @param value of the objective
 * @param lowerBound no plan has a smaller objective under the cost model; empty without one
 * @param stepSeconds of a step, simulated where it was; NaN where no times are known
 * @param clusterDevices devices of the cluster
 * @param devices that the plan uses
 * @param peakBytes what the fullest device holds
 * @param samplesPerSecond over all devices; empty where no times are known
 * @param tokensPerSecond the same in tokens; empty where a sample is no sequence of them
 * @param utilization of the model's FLOP (MFU); empty where it is unknown
 */
public record SweepFigures(
    String planner,
    String objective,
    double value,
    OptionalDouble lowerBound,
    double stepSeconds,
    int clusterDevices,
    int devices,
    double peakBytes,
    OptionalDouble samplesPerSecond,
    OptionalDouble tokensPerSecond,
    OptionalDouble utilization,
    SweepShape shape) {
  /** How the plan splits the network. */
  public record SweepShape(
      String schedule, int stages, int replicas, int microBatches, int microBatch) {}
}

package dev.pipewright.cost;

import dev.pipewright.units.Bytes;

/**
 * What one stage of a plan costs each of its devices. Seconds are for one micro-batch unless said.
 *
 * @param forwardSeconds forward pass of the device's slice
 * @param backwardSeconds backward pass, recomputation included
 * @param sendSeconds activation to the next stage; 0 for the last
 * @param returnSeconds gradient back from the next stage; 0 for the last
 * @param allReduceSeconds gradients over the stage's devices, once per step
 * @param exposedAllReduceSeconds the part of it after the stage's last backward pass
 * @param updateSeconds the optimizer's step, once per step
 * @param memory its peak
 */
public record StageCost(
    double forwardSeconds,
    double backwardSeconds,
    double sendSeconds,
    double returnSeconds,
    double allReduceSeconds,
    double exposedAllReduceSeconds,
    double updateSeconds,
    StageMemory memory) {

  /**
   * Bytes on each device of a stage.
   *
   * @param staticBytes weights, gradients, optimizer state
   * @param heldBytes what each micro-batch in flight holds
   * @param inFlight how many are held at most
   * @param workingBytes what a pass needs beyond that while it recomputes and computes
   * @param capacity the smallest memory among the stage's devices
   */
  public record StageMemory(
      double staticBytes, double heldBytes, int inFlight, double workingBytes, Bytes capacity) {
    public double peakBytes() {
      return staticBytes + inFlight * heldBytes + workingBytes;
    }

    public boolean fits() {
      return peakBytes() <= capacity.value();
    }
  }
}

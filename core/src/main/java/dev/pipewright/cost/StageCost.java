package dev.pipewright.cost;

import dev.pipewright.units.Bytes;

/**
 * What one stage of a plan costs each of its devices. Seconds are for one micro-batch unless said.
 *
 * @param forwardSeconds forward pass of the device's slice
 * @param backwardSeconds backward pass, recomputation included
 * @param weightSeconds the part of it that the weights' gradient takes where the schedule splits
 *     backward passes; 0 where it does not
 * @param savedSeconds what the backward pass of the step's last micro-batch takes less, where that
 *     is not recomputed
 * @param sendSeconds activation to the next stage; 0 for the last
 * @param returnSeconds gradient back from the next stage; 0 for the last
 * @param allReduceSeconds gradients over the stage's devices, once per step
 * @param exposedAllReduceSeconds the part of it after the stage's last backward pass
 * @param updateSeconds the optimizer's step, once per step
 * @param memory the peak of its own layers
 */
public record StageCost(
    double forwardSeconds,
    double backwardSeconds,
    double weightSeconds,
    double savedSeconds,
    double sendSeconds,
    double returnSeconds,
    double allReduceSeconds,
    double exposedAllReduceSeconds,
    double updateSeconds,
    StageMemory memory) {
  /** Of a stage that treats all micro-batches alike. */
  public StageCost(
      double forwardSeconds,
      double backwardSeconds,
      double sendSeconds,
      double returnSeconds,
      double allReduceSeconds,
      double exposedAllReduceSeconds,
      double updateSeconds,
      StageMemory memory) {
    this(
        forwardSeconds,
        backwardSeconds,
        0,
        0,
        sendSeconds,
        returnSeconds,
        allReduceSeconds,
        exposedAllReduceSeconds,
        updateSeconds,
        memory);
  }

  /** The same where messages to the next stage and back take no time. */
  public StageCost withoutTransfers() {
    return new StageCost(
        forwardSeconds,
        backwardSeconds,
        weightSeconds,
        savedSeconds,
        0,
        0,
        allReduceSeconds,
        exposedAllReduceSeconds,
        updateSeconds,
        memory);
  }

  /**
   * Bytes of a stage on each of its devices.
   *
   * @param states what is there all the time
   * @param heldBytes what each micro-batch in flight holds
   * @param lastBytes what the step's last micro-batch holds beyond that, where it keeps more
   * @param inFlight how many are held at most
   * @param recomputedBytes the part of {@code workingBytes} that a backward pass computes again,
   *     which a split one needs until the weights' gradient is done
   * @param workingBytes what a pass needs beyond that while it recomputes and computes
   * @param capacity the smallest memory among the stage's devices
   */
  public record StageMemory(
      States states,
      double heldBytes,
      double lastBytes,
      int inFlight,
      double recomputedBytes,
      double workingBytes,
      Bytes capacity) {
    /** Of a stage that treats all micro-batches alike and recomputes nothing for long. */
    public StageMemory(
        States states, double heldBytes, int inFlight, double workingBytes, Bytes capacity) {
      this(states, heldBytes, 0, inFlight, 0, workingBytes, capacity);
    }

    /** Weights, gradients, optimizer state. */
    public double staticBytes() {
      return states.all();
    }

    /** Activations of all micro-batches in flight. */
    public double activationBytes() {
      return inFlight * heldBytes + lastBytes;
    }

    public double peakBytes() {
      return staticBytes() + activationBytes() + workingBytes;
    }

    /** The same of a device that holds no other stage. */
    public PeakMemory device() {
      return new PeakMemory(states, activationBytes(), workingBytes, capacity);
    }

    public boolean fits() {
      return peakBytes() <= capacity.value();
    }
  }

  /** What memory of a stage is for. */
  public enum Category {
    /** Weights as passes read them, all versions of them. */
    PARAMETERS,
    GRADIENTS,
    /** Moments and the master copy of the weights. */
    OPTIMIZER,
    /** What micro-batches in flight keep for their backward passes. */
    ACTIVATIONS,
    /** What a pass needs while it computes and recomputes. */
    WORKSPACE,
    /** Messages and gathered tensors. */
    BUFFERS
  }

  /**
   * Bytes of a stage that are there all the time.
   *
   * @param parameters weights as passes read them, all versions of them
   * @param gradients of the weights
   * @param all these and the optimizer's state
   */
  public record States(double parameters, double gradients, double all) {
    /** All that a device of a stage held when it was measured, whatever it was for. */
    public static States measured(double bytes) {
      return new States(0, 0, bytes);
    }

    /** Whether it is known what the bytes are for. */
    public boolean apart() {
      return all == 0 || parameters + gradients > 0;
    }

    /** Moments and the master copy of the weights. */
    public double optimizer() {
      return Math.max(0, all - parameters - gradients); // never below by rounding
    }

    /** The same with {@code bytes} more of older versions of the parameters. */
    public States withVersions(double bytes) {
      return new States(parameters + bytes, gradients, all + bytes);
    }
  }
}

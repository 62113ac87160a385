package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * When the inputs of passes are there. Each stage has two of each micro-batch, with numbers of
 * their own: the activation that its forward pass takes, and the gradient that its backward pass
 * takes.
 */
final class Inputs {
  static final int NONE = -1;
  private static final int FORWARD = Pass.FORWARD.code();
  private static final int BACKWARD = Pass.BACKWARD.code();
  private static final int BACKWARD_INPUT = Pass.BACKWARD_INPUT.code();

  private final int microBatches;
  private final double[] at; // by number; NaN as long as it is unknown

  /** The activations of the first stages are there from the start. */
  Inputs(Schedule schedule) {
    microBatches = schedule.microBatches();
    at = new double[Math.multiplyExact(2 * schedule.stages(), microBatches)];
    Arrays.fill(at, Double.NaN);
    for (int stage = 0; stage < schedule.stages(); stage += schedule.placement().depth()) {
      for (int i = 0; i < microBatches; i++) {
        at[activation(stage, i)] = 0;
      }
    }
  }

  int activation(int stage, int microBatch) {
    return 2 * (stage * microBatches + microBatch);
  }

  int gradient(int stage, int microBatch) {
    return activation(stage, microBatch) + 1;
  }

  /** The one that an op takes; {@link #NONE} where it needs only what is on its rank. */
  int of(long op) {
    int code = Schedule.code(op);
    if (code == FORWARD) {
      return activation(Schedule.stage(op), Schedule.microBatch(op));
    }
    return code == BACKWARD || code == BACKWARD_INPUT
        ? gradient(Schedule.stage(op), Schedule.microBatch(op))
        : NONE;
  }

  /** When one is there; NaN as long as that is unknown. */
  double at(int input) {
    return input == NONE ? 0 : at[input];
  }

  void arrive(int input, double time) {
    at[input] = time;
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.CostModel;
import dev.pipewright.planner.Request.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * One way to divide a global batch: {@code unit} copies of the pipeline, each with {@code
 * microBatches} micro-batches of {@code microBatch} samples.
 */
record MicroBatching(int unit, int microBatch, int microBatches) {
  private static final int FEWEST_ROUNDS = 4;

  /** Samples of one micro-batch over all copies. */
  int samples() {
    return unit * microBatch;
  }

  /**
   * Fewer micro-batches, for which a schedule is like that for all, but for those in the middle of
   * the step.
   *
   * @param ranks of the pipeline
   */
  MicroBatching fewer(int ranks) {
    int round = 2 * ranks; // whatever the schedule, its order repeats
    return microBatches <= FEWEST_ROUNDS * round
        ? this
        : new MicroBatching(unit, microBatch, (FEWEST_ROUNDS - 1) * round + microBatches % round);
  }

  /**
   * All ways that a request allows; {@link CostModel#DAPPLE_REPO} also allows ways that leave
   * samples over, which its micro-batches share. With a given micro-batch the number of copies
   * varies; otherwise one copy with every micro-batch size covers copies too: a stage's devices
   * share a micro-batch.
   */
  static List<MicroBatching> of(Request request, int devices) {
    List<MicroBatching> waves = new ArrayList<>();
    int global = request.globalBatch();
    if (request.microBatch().isPresent()) {
      int microBatch = request.microBatch().getAsInt();
      boolean truncates = request.costModel() == CostModel.DAPPLE_REPO;
      int most = request.shape() == Shape.PIPELINE ? 1 : Math.min(devices, global / microBatch);
      for (int copies = 1; copies <= most; copies++) {
        if (truncates || global % (copies * microBatch) == 0) {
          waves.add(new MicroBatching(copies, microBatch, global / copies / microBatch));
        }
      }
      return waves;
    }
    for (int samples = 1; samples <= global; samples++) {
      if (global % samples == 0) {
        waves.add(new MicroBatching(1, samples, global / samples));
      }
    }
    return waves;
  }
}

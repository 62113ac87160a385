package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;

/**
 * All forward passes, then all backward passes in reverse order of the stages.
 *
 * <p>Paper: Y. Huang et al., <i>GPipe: Efficient Training of Giant Neural Networks using Pipeline
 * Parallelism</i>, NeurIPS 2019, §2.3. Activations of all micro-batches are alive at once. Backward
 * passes run in the order of the forward passes, as DAPPLE's figure 3(a) draws them.
 */
public final class GPipe {
  /** §2.3 of the paper, in time. */
  public static final Bubble BUBBLE = Bubble.FILL_AND_DRAIN;

  private GPipe() {}

  public static Schedule of(int stages, int microBatches) {
    long[][] programs = new long[stages][2 * microBatches];
    for (int stage = 0; stage < stages; stage++) {
      for (int i = 0; i < microBatches; i++) {
        programs[stage][i] = Schedule.pack(Pass.FORWARD, stage, i);
        programs[stage][microBatches + i] = Schedule.pack(Pass.BACKWARD, stage, i);
      }
    }
    return new Schedule("gpipe", stages, microBatches, programs);
  }
}

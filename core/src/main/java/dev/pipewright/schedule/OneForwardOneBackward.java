package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;

/**
 * Early backward scheduling: stage {@code i} runs {@code K_i} forward passes, then one backward and
 * one forward in turn, so at most {@code K_i} micro-batches' activations are alive.
 *
 * <p>Paper: S. Fan et al., <i>DAPPLE</i>, PPoPP 2021, §III-B and §V-C. Policy A: {@code K_i = S−i};
 * policy B: {@code K_i = 2(S−i)−1}, which hides transfers; both at most what memory holds and at
 * most the number of micro-batches.
 */
public final class OneForwardOneBackward {
  /** That of GPipe: early backward passes save memory, not time. */
  public static final Bubble BUBBLE = Bubble.FILL_AND_DRAIN;

  private OneForwardOneBackward() {}

  /** Policy A without a memory limit. */
  public static Schedule of(int stages, int microBatches) {
    return of(microBatches, PipelinePolicy.A.inFlight(stages, microBatches));
  }

  /** One stage per entry of {@code inFlight}, each from 1 to {@code microBatches}. */
  public static Schedule of(int microBatches, int[] inFlight) {
    int stages = inFlight.length;
    long[][] programs = new long[stages][2 * microBatches];
    for (int stage = 0; stage < stages; stage++) {
      int ahead = inFlight[stage];
      Check.that(
          1 <= ahead && ahead <= microBatches,
          "micro-batches in flight must be in 1..micro_batches: stage=%d, in_flight=%d, micro_batches=%d",
          stage,
          ahead,
          microBatches);
      fill(programs[stage], stage, microBatches, ahead);
    }
    return new Schedule("1f1b", stages, microBatches, programs);
  }

  private static void fill(long[] program, int stage, int microBatches, int ahead) {
    int at = 0;
    for (int i = 0; i < ahead; i++) {
      program[at++] = Schedule.pack(Pass.FORWARD, stage, i);
    }
    for (int i = 0; i < microBatches; i++) {
      program[at++] = Schedule.pack(Pass.BACKWARD, stage, i);
      if (i + ahead < microBatches) {
        program[at++] = Schedule.pack(Pass.FORWARD, stage, i + ahead);
      }
    }
  }
}

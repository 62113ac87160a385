package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;

/**
 * One forward, one backward with split backward passes: the weights' gradient of a micro-batch is
 * computed a number of input gradients later, the rest at the end.
 */
final class DelayedWeights {
  private DelayedWeights() {}

  static void check(int ranks, int microBatches) {
    Check.that(
        ranks >= 1 && microBatches >= 1,
        "a schedule has ranks and micro-batches: ranks=%d, micro_batches=%d",
        ranks,
        microBatches);
  }

  /**
   * The program of one rank.
   *
   * @param ahead forward passes before the first backward pass
   * @param delay how many input gradients the weight gradients stay behind
   */
  static long[] program(int rank, int microBatches, int ahead, int delay) {
    long[] program = new long[Math.multiplyExact(3, microBatches)];
    int at = 0;
    for (int i = 0; i < Math.min(ahead, microBatches); i++) {
      program[at++] = Schedule.pack(Pass.FORWARD, rank, i);
    }
    for (int i = 0; i < microBatches; i++) {
      program[at++] = Schedule.pack(Pass.BACKWARD_INPUT, rank, i);
      if (i >= delay) {
        program[at++] = Schedule.pack(Pass.BACKWARD_WEIGHT, rank, i - delay);
      }
      if (i + ahead < microBatches) {
        program[at++] = Schedule.pack(Pass.FORWARD, rank, i + ahead);
      }
    }
    for (int i = Math.max(0, microBatches - delay); i < microBatches; i++) {
      program[at++] = Schedule.pack(Pass.BACKWARD_WEIGHT, rank, i);
    }
    return program;
  }
}

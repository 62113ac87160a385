package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;

/** One forward, one backward without a flush, and an update whenever a batch is complete. */
public final class UpdatedProgram {
  private UpdatedProgram() {}

  /**
   * The program of one rank.
   *
   * @param ahead forward passes before the first backward pass
   * @param perUpdate micro-batches whose gradients add up to an update
   */
  public static long[] of(int stage, int microBatches, int ahead, int perUpdate) {
    Program program = new Program(2 * microBatches + microBatches / perUpdate);
    for (int i = 0; i < ahead; i++) {
      program.add(Pass.FORWARD, stage, i);
    }
    for (int i = 0; i < microBatches; i++) {
      program.add(Pass.BACKWARD, stage, i);
      if ((i + 1) % perUpdate == 0) {
        program.add(Pass.UPDATE, stage, i / perUpdate);
      }
      if (i + ahead < microBatches) {
        program.add(Pass.FORWARD, stage, i + ahead);
      }
    }
    return program.packed();
  }
}

package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Gpu;

/** When the ops of a step began to wait, started and ended. */
final class OpTimestamps {
  private final long[] waited;
  private final long[] started;
  private final long[] ended;
  private long ahead; // nanoseconds of updates within the last op
  private long updateStarted;
  private long updateEnded;

  OpTimestamps(int ops) {
    waited = new long[ops];
    started = new long[ops];
    ended = new long[ops];
  }

  void waits(int position) {
    waited[position] = System.nanoTime();
  }

  void starts(int position) {
    started[position] = System.nanoTime();
  }

  void ends(int position) {
    Gpu.finish();
    ended[position] = System.nanoTime() - ahead;
  }

  /**
   * A part of the update that the last op does while it runs: it counts as if it came after the op.
   */
  void updatesAhead(Runnable part) {
    long begun = System.nanoTime();
    part.run();
    ahead += System.nanoTime() - begun;
  }

  void updateStarts() {
    updateStarted = System.nanoTime() - ahead;
    ahead = 0;
  }

  void updateEnds() {
    Gpu.finish();
    updateEnded = System.nanoTime();
  }

  StepReport report(long step, double loss, long correct, long rows) {
    return new StepReport(
        step, loss, correct, rows, waited, started, ended, updateStarted, updateEnded);
  }
}

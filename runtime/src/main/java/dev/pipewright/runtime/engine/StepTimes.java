package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Gpu;
import java.util.Arrays;

/** When the ops of a step began to wait, started and ended. */
final class StepTimes {
  private final long[] waited;
  private final long[] started;
  private final long[] ended;
  private long updateStarted;
  private long updateEnded;

  StepTimes(int ops) {
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
    ended[position] = System.nanoTime();
  }

  void updateStarts() {
    updateStarted = System.nanoTime();
  }

  void updateEnds() {
    Gpu.finish();
    updateEnded = System.nanoTime();
  }

  StepReport report(long step, double loss, long correct, long rows) {
    return new StepReport(
        step,
        loss,
        correct,
        rows,
        Arrays.copyOf(waited, waited.length),
        Arrays.copyOf(started, started.length),
        Arrays.copyOf(ended, ended.length),
        updateStarted,
        updateEnded);
  }
}

package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;

/** What tests of closed forms share. */
final class ClosedForms {
  /** Ranks and micro-batches at most. */
  static final int MOST = 64;

  private ClosedForms() {}

  /** Runs equal passes, each half of a backward one half of its time. */
  static Run assertMakespan(double expected, Schedule schedule, double forward, double backward) {
    double half = backward / 2;
    OpTimes times = OpTimes.equal(schedule.stages(), forward, half, half, 0);
    Run run = StaticSimulator.run(schedule, times);
    assertEquals(
        expected,
        run.makespan(),
        1e-9,
        () ->
            "%s, %d ranks, %d micro-batches"
                .formatted(schedule.name(), schedule.ranks(), schedule.microBatches()));
    return run;
  }
}

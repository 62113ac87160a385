package dev.pipewright.sim;

import static dev.pipewright.sim.ClosedForms.MOST;
import static dev.pipewright.sim.ClosedForms.assertMakespan;

import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import dev.pipewright.schedule.cyclic.DataParallel;
import dev.pipewright.schedule.cyclic.DataParallel.Reduction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workers that each run all N stages of a network in a step, over up to three steps. */
class ClosedFormsOfWorkersTest {
  /** A step is 2N passes, of one unit either way, of a worker that never waits. */
  @Test
  void dataParallelWorkersTakeTheirPasses() {
    for (int workers = 1; workers <= MOST; workers++) {
      for (int steps = 1; steps <= 3; steps++) {
        double own = 2.0 * workers * steps;
        assertMakespan(own, DataParallel.of(workers, workers, steps, Reduction.AT_END), 1, 1);
        assertMakespan(own, DataParallel.zero(workers, steps), 1, 1);
      }
    }
  }

  /** The last worker starts 2(N − 1) units behind the first; one device runs all one by one. */
  @ParameterizedTest
  @EnumSource
  void cyclicWorkersTakeTheirPassesAndTheirDistance(Form form) {
    for (int workers = 1; workers <= MOST / 2; workers++) {
      for (int steps = 1; steps <= 3; steps++) {
        double own = 2.0 * workers * steps;
        double expected = form == Form.SINGLE ? workers * own : own + 2 * (workers - 1);
        for (Rule rule : Rule.values()) {
          assertMakespan(expected, new Cyclic(workers).schedule(form, rule, steps), 1, 1);
        }
      }
    }
  }
}

package dev.pipewright.sim;

import static dev.pipewright.sim.ClosedForms.MOST;
import static dev.pipewright.sim.ClosedForms.assertMakespan;

import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pipelines without a flush fill and drain once, however often they update parameters. */
class ClosedFormsWithoutFlushTest {
  @Test
  void pipeDream() {
    for (int p = 1; p <= MOST; p++) {
      for (int m = 1; m <= MOST; m++) {
        assertMakespan(3 * (m + p - 1), PipeDream.of(p, m), 1, 2);
      }
    }
  }

  @Test
  void pipeDreamWithTwoBuffers() {
    for (int p = 1; p <= MOST; p++) {
      for (int perUpdate = p; perUpdate <= MOST; perUpdate++) {
        assertMakespan(3 * (3 * perUpdate + p - 1), PipeDream2bw.of(p, perUpdate, 3), 1, 2);
      }
    }
  }

  @Test
  void periodicSchedulesOfEqualStages() {
    for (int p = 1; p <= MOST; p++) {
      List<StageLoad> stages = Collections.nCopies(p, new StageLoad(1, 2, 0, 0));
      for (int m = 1; m <= MOST; m++) {
        Schedule star = PeriodicPipeline.star(stages, new double[p - 1], Integer.MAX_VALUE, m);
        assertMakespan(3 * (m + p - 1), star, 1, 2);
      }
    }
  }
}

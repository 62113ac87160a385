package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDreamTwoBuffers;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.WarmUp;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.cyclic.DataParallel;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.schedule.timed.OpTimes;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@link ClosedFormsTest} leaves: up to 64 ranks and 64 micro-batches. */
class RuleBasedClosedFormsTest {
  private static final int[] RANKS = {1, 2, 3, 4, 5, 8, 13, 32, 64};
  private static final int MOST = 64;

  private static double makespan(Schedule schedule, double forward, double backward) {
    double half = backward / 2;
    return StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), forward, half, half, 0))
        .makespan();
  }

  private static void assertMakespan(double expected, Schedule schedule, double f, double b) {
    assertEquals(
        expected,
        makespan(schedule, f, b),
        1e-9,
        () ->
            "%s, %d ranks, %d micro-batches"
                .formatted(schedule.name(), schedule.ranks(), schedule.microBatches()));
  }

  @Test
  void policyBTakesAsLongAsPolicyAWithoutTransfers() {
    for (int p : RANKS) {
      for (int m = 1; m <= MOST; m++) {
        assertMakespan(3 * (m + p - 1), OneForwardOneBackward.of(m, WarmUp.B.inFlight(p, m)), 1, 2);
      }
    }
  }

  @Test
  void schedulesWithoutAFlushFillAndDrainOnce() {
    for (int p = 1; p <= MOST; p++) {
      for (int m = 1; m <= MOST; m++) {
        assertMakespan(3 * (m + p - 1), PipeDream.of(p, m), 1, 2);
      }
      for (int perUpdate = p; perUpdate <= MOST; perUpdate += 7) {
        assertMakespan(3 * (3 * perUpdate + p - 1), PipeDreamTwoBuffers.of(p, perUpdate, 3), 1, 2);
      }
    }
  }

  @Test
  void periodicSchedulesOfEqualStagesFillAndDrainOnce() {
    for (int p : RANKS) {
      List<StageLoad> stages = Collections.nCopies(p, new StageLoad(1, 2, 0, 0));
      for (int m = 1; m <= MOST; m++) {
        Schedule star = PeriodicPipeline.star(stages, new double[p - 1], Integer.MAX_VALUE, m);
        assertMakespan(3 * (m + p - 1), star, 1, 2);
      }
    }
  }

  @Test
  void zeroBubbleH2WaitsForTheFirstForwardPassesAndTheLastRanksStart() {
    for (int p : RANKS) {
      for (int m = 2 * p - 1; m <= MOST; m++) {
        assertMakespan(3 * m + p - 1, ZeroBubbleH2.of(p, m), 1, 2);
      }
    }
  }

  @Test
  void bothWaysAtOnce() {
    for (int p = 2; p <= MOST / 2; p += 2) {
      for (int m = 2 * p; m <= MOST; m += 2) {
        assertMakespan(3 * m + 2 * (p / 2 - 1), DualPipe.of(p, m), 1, 2);
      }
    }
    for (int p = 1; p <= MOST / 2; p++) {
      for (int m = 2 * p; m <= MOST; m++) {
        assertMakespan(3 * m + p - 1, DualPipeV.of(p, m), 0.5, 1);
      }
    }
    for (int p = 2; p <= MOST; p += 2) {
      for (int m = p; m <= 2 * MOST; m += p) {
        assertMakespan(2 * m + p - 2, Chimera.of(p, m), 1, 1);
      }
    }
  }

  @Test
  void waves() {
    for (int p : RANKS) {
      for (int waves = 1; waves <= 3; waves++) {
        for (int m = p; m <= MOST; m += p) {
          assertMakespan(4 * waves * m + 2 * (p - 1), Hanayo.of(p, m, waves), 1, 1);
        }
      }
    }
  }

  /** A step of 2N slots of any length; the last worker starts 2(N − 1) later, or in step. */
  @Test
  void dataParallelWorkersTakeTheirPassesAndCyclicOnesTheirDistance() {
    for (int workers : new int[] {1, 2, 3, 4, 8, 13, 32}) {
      Cyclic cyclic = new Cyclic(workers);
      for (int steps = 1; steps <= 3; steps++) {
        double own = 2.0 * workers * steps;
        assertMakespan(
            own, DataParallel.of(workers, workers, steps, DataParallel.Reduction.AT_END), 1, 1);
        assertMakespan(own, DataParallel.zero(workers, steps), 1, 1);
        for (Cyclic.Form form : Cyclic.Form.values()) {
          boolean single = form == Cyclic.Form.SINGLE;
          double expected = single ? workers * own : own + 2 * (workers - 1);
          for (Cyclic.Rule rule : Cyclic.Rule.values()) {
            assertMakespan(expected, cyclic.schedule(form, rule, steps), 1, 1);
          }
        }
      }
    }
  }
}

package dev.pipewright.schedule.cyclic;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.ExchangeExecution;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Picture;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Execution.At;
import dev.pipewright.schedule.cyclic.DataParallel.Reduction;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class DataParallelTest {
  private static final int MOST_WORKERS = 6;

  @Test
  void gradientsAreReducedBehindEachBackwardPassOrAtTheEnd() {
    assertEquals(
        """
        0 | 0F0 1F0 2F0 2B0 2A0 1B0 1A0 0B0 0A0 2U0 1U0 0U0 0F1 1F1 2F1 2B1 2A1 1B1 1A1 0B1 0A1 2U1 1U1 0U1
        1 | 0F0 1F0 2F0 2B0 2A0 1B0 1A0 0B0 0A0 2U0 1U0 0U0 0F1 1F1 2F1 2B1 2A1 1B1 1A1 0B1 0A1 2U1 1U1 0U1
        """,
        Picture.ofChains(DataParallel.of(2, 3, 2, Reduction.OVERLAPPED)));
    assertEquals(
        """
        0 | 0F0 1F0 1B0 0B0 1A0 0A0 1U0 0U0
        1 | 0F0 1F0 1B0 0B0 1A0 0A0 1U0 0U0
        """,
        Picture.ofChains(DataParallel.of(2, 2, 1, Reduction.AT_END)));
  }

  @Test
  void parametersAreGatheredOneStageAheadAndUpdatedByTheirOwner() {
    assertEquals(
        """
        0 | 0G0 1G0 0F0 2G0 1F0 2F0 1G1 2B0 2A0 0G1 1B0 1A0 0B0 0A0 0U0
        1 | 0G0 1G0 0F0 2G0 1F0 2F0 1G1 2B0 2A0 0G1 1B0 1A0 0B0 0A0 1U0
        2 | 0G0 1G0 0F0 2G0 1F0 2F0 1G1 2B0 2A0 0G1 1B0 1A0 2U0 0B0 0A0
        """,
        Picture.ofChains(DataParallel.zero(3, 1)));
  }

  @Test
  void workersStayInStepAndHoldEverythingAtOnce() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      for (Schedule schedule :
          new Schedule[] {
            DataParallel.of(workers, workers, 3, Reduction.OVERLAPPED),
            DataParallel.of(workers, workers, 3, Reduction.AT_END),
            DataParallel.zero(workers, 3)
          }) {
        Picture.assertRuns(schedule);
        ExchangeExecution execution = ExchangeExecution.ofSlots(schedule);
        assertEquals(3 * 2 * workers, execution.makespan());
        for (int stage = 0; stage < schedule.stages(); stage++) {
          int slot = stage % workers;
          assertEquals(2 * workers + slot, execution.start(Pass.FORWARD, stage, 1));
          assertEquals(4 * workers - 1 - slot, execution.start(Pass.BACKWARD, stage, 1));
        }
      }
    }
  }

  /** A reduction of no more than a pass's time shows at the end of a step only. */
  @Test
  void overlappedReductionsHideBehindBackwardPasses() {
    for (int stages = 1; stages <= MOST_WORKERS; stages++) {
      double hidden = makespan(DataParallel.of(3, stages, 2, Reduction.OVERLAPPED), 0.5, 0);
      double shown = makespan(DataParallel.of(3, stages, 2, Reduction.AT_END), 0.5, 0);
      assertEquals(2 * (2 * stages + 0.5), hidden, 1e-9);
      assertEquals(2 * (2 * stages + 0.5 * stages), shown, 1e-9);
    }
  }

  @Test
  void gathersThatTakeNoLongerThanAPassShowAtTheBeginningOfAStepOnly() {
    for (int workers = 3; workers <= MOST_WORKERS; workers++) {
      assertEquals(2 * (2 * workers + 0.5), makespan(DataParallel.zero(workers, 2), 0, 0.5), 1e-9);
    }
  }

  private static double makespan(Schedule schedule, double reduce, double gather) {
    return new ExchangeExecution(
            schedule,
            op ->
                switch (op.pass()) {
                  case REDUCE -> reduce;
                  case GATHER -> gather;
                  case UPDATE -> 0;
                  default -> 1;
                })
        .makespan();
  }

  /** Parameters of two stages at most beside the own one: the one in use and the next. */
  @Test
  void aStageIsGatheredForEachPassButTheLastForBoth() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Schedule schedule = DataParallel.zero(workers, 3);
      for (int rank = 0; rank < workers; rank++) {
        Map<Pass, Integer> count = new HashMap<>();
        Set<Integer> here = new HashSet<>();
        for (Op op : schedule.program(rank)) {
          count.merge(op.pass(), 1, Integer::sum);
          int stage = op.stage() % workers;
          if (op.pass() == Pass.GATHER) {
            assertTrue(here.add(stage));
            assertTrue(here.size() <= 2);
          } else if (op.pass() == Pass.FORWARD || op.pass() == Pass.BACKWARD) {
            assertTrue(here.contains(stage), "stage " + stage + " is not there for " + op);
            if (op.pass() == Pass.BACKWARD || stage < workers - 1) {
              here.remove(stage);
            }
          }
        }
        assertEquals(3 * (2 * workers - 1), count.get(Pass.GATHER));
        assertEquals(3 * workers, count.get(Pass.REDUCE));
        assertEquals(3, count.get(Pass.UPDATE));
      }
    }
  }

  @Test
  void anOwnersUpdateWaitsForItsGradientsAndTheNextGatherForTheUpdate() {
    Schedule schedule = DataParallel.zero(4, 3);
    ExchangeExecution execution =
        new ExchangeExecution(
            schedule, op -> op.pass() == Pass.UPDATE ? 7 : op.pass() == Pass.REDUCE ? 5 : 1);
    Map<Integer, Double> updated = new HashMap<>();
    Map<Integer, Double> reduced = new HashMap<>();
    for (At at : execution.order()) {
      Op op = at.op();
      int key =
          op.stage() % 4 * 3 + (op.pass() == Pass.GATHER ? op.microBatch() / 2 : op.microBatch());
      if (op.pass() == Pass.UPDATE) {
        assertEquals(op.stage() % 4, at.rank());
        updated.put(key, execution.end(at));
      } else if (op.pass() == Pass.REDUCE) {
        reduced.put(key, execution.end(at));
      }
    }
    for (At at : execution.order()) {
      Op op = at.op();
      int stage = op.stage() % 4;
      if (op.pass() == Pass.UPDATE) {
        assertTrue(execution.start(at) >= requireNonNull(reduced.get(stage * 3 + op.microBatch())));
      } else if (op.pass() == Pass.GATHER && op.microBatch() >= 2) {
        assertTrue(
            execution.start(at)
                >= requireNonNull(updated.get(stage * 3 + op.microBatch() / 2 - 1)));
      }
    }
  }

  @RepeatedTest(value = MOST_WORKERS, name = "seed {currentRepetition}")
  void theSimulatorRunsThemAsTheRulesOfExchangesSay(RepetitionInfo seed) {
    int workers = seed.getCurrentRepetition();
    var random = new SplittableRandom(workers);
    for (Schedule schedule :
        new Schedule[] {
          DataParallel.of(workers, 4, 3, Reduction.OVERLAPPED), DataParallel.zero(workers, 3)
        }) {
      ExchangeExecution.assertSimulated(
          schedule, ExchangeExecution.randomTimes(random, schedule.placement()));
    }
  }

  @Test
  void nobodyIsRefused() {
    Exception e =
        assertThrows(
            IllegalArgumentException.class, () -> DataParallel.of(0, 2, 1, Reduction.AT_END));
    assertEquals(
        "data parallelism has workers, stages and steps: workers=0, stages=2, steps=1",
        e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> DataParallel.zero(2, 0));
  }
}

package dev.pipewright.schedule.cyclic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PassesOnly;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CyclicTest {
  private static final int MOST_WORKERS = 9;

  /** Slot by slot; a dot before a worker's first pass. */
  private static String timeline(Cyclic cyclic, int steps) {
    Schedule schedule = PassesOnly.of(cyclic.schedule(Cyclic.Form.RING, Cyclic.Rule.V2, steps));
    StringBuilder text = new StringBuilder();
    for (int worker = 0; worker < cyclic.workers(); worker++) {
      text.append(worker).append(" |").append(" .".repeat(2 * worker));
      for (Op op : schedule.program(worker)) {
        text.append(' ').append(op.pass().letter()).append(op.stage() % cyclic.workers());
      }
      text.append('\n');
    }
    return text.toString();
  }

  @Test
  void threeWorkersFollowOneAnotherTwoSlotsLater() {
    assertEquals(
        """
        0 | F0 F1 F2 B2 B1 B0 F0 F1 F2 B2 B1 B0
        1 | . . F0 F1 F2 B2 B1 B0 F0 F1 F2 B2 B1 B0
        2 | . . . . F0 F1 F2 B2 B1 B0 F0 F1 F2 B2 B1 B0
        """,
        timeline(new Cyclic(3), 2));
  }

  @Test
  void aWorkersPassesComeInTheOrderOfTheirSlotsWithoutAGap() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      Schedule schedule = PassesOnly.of(cyclic.schedule(Cyclic.Form.RING, Cyclic.Rule.V1, 3));
      assertEquals("cyclic-v1", schedule.name());
      assertEquals(List.of(), Validator.check(schedule));
      for (int worker = 0; worker < workers; worker++) {
        long next = 2L * worker;
        for (Op op : schedule.program(worker)) {
          int stage = op.stage() - worker * workers;
          assertEquals(next++, cyclic.slot(op.pass(), stage, worker, op.microBatch()));
        }
      }
    }
  }

  @Test
  void noStageRunsTwoMicroBatchesOneWayAtATime() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      for (Pass pass : List.of(Pass.FORWARD, Pass.BACKWARD)) {
        for (int stage = 0; stage < workers; stage++) {
          Set<Long> taken = new HashSet<>();
          for (int worker = 0; worker < workers; worker++) {
            for (int step = 0; step < 3; step++) {
              assertTrue(taken.add(cyclic.slot(pass, stage, worker, step)));
            }
          }
        }
      }
    }
  }

  /** The paper's rule, counted from 1, is what the slots allow and no more. */
  @Test
  void theSecondRuleUsesFreshParametersAsSoonAsTheSlotsAllow() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      for (int i = 1; i <= workers; i++) {
        for (int j = 1; j <= workers; j++) {
          long updated = cyclic.slot(Pass.BACKWARD, j - 1, workers - 1, 4) + 1;
          boolean fresh = updated <= cyclic.slot(Pass.FORWARD, j - 1, i - 1, 5);
          assertEquals(j >= workers - i + 1, fresh);
          assertEquals(fresh ? 0 : 1, cyclic.delay(Cyclic.Rule.V2, i - 1, j - 1));
          assertEquals(1, cyclic.delay(Cyclic.Rule.V1, i - 1, j - 1));
        }
      }
    }
  }

  @Test
  void activationsStayAtHalfOfThoseOfWorkersInStep() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      for (long slot = 2L * workers; slot < 4L * workers; slot++) {
        int all = 0;
        for (int stage = 0; stage < workers; stage++) {
          int held = held(cyclic, stage, slot);
          assertEquals(cyclic.holders(stage), held);
          all += held;
        }
        assertEquals(workers * (workers + 1) / 2, all);
      }
    }
  }

  /** Micro-batches whose activations of a stage are alive in a slot, counted one by one. */
  private static int held(Cyclic cyclic, int stage, long slot) {
    int held = 0;
    for (int worker = 0; worker < cyclic.workers(); worker++) {
      for (int step = 0; step < 3; step++) {
        boolean begun = cyclic.slot(Pass.FORWARD, stage, worker, step) <= slot;
        boolean over = cyclic.slot(Pass.BACKWARD, stage, worker, step) < slot;
        held += begun && !over ? 1 : 0;
      }
    }
    return held;
  }

  @Test
  void halvesOfBackwardPassesHaveNoSlot() {
    Exception e =
        assertThrows(
            IllegalArgumentException.class, () -> new Cyclic(3).slot(Pass.BACKWARD_INPUT, 0, 0, 0));
    assertEquals(
        "a slot holds a whole forward or backward pass: pass=BACKWARD_INPUT", e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> new Cyclic(0));
  }
}

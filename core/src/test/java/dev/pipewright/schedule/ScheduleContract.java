package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.check.Validator;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What every schedule keeps to. */
abstract class ScheduleContract {
  abstract Schedule schedule(int stages, int microBatches);

  /** Micro-batches that a stage may hold at most. */
  abstract int inFlight(int stages, int microBatches, int stage);

  @ParameterizedTest(name = "{0} stages, {1} micro-batches")
  @CsvSource({"1, 1", "1, 5", "2, 1", "3, 2", "3, 3", "4, 8", "5, 17", "8, 4", "13, 40"})
  void runsEveryOpOnceAndHoldsNoMoreThanDeclared(int stages, int microBatches) {
    Schedule schedule = schedule(stages, microBatches);
    assertTrue(Validator.check(schedule).isEmpty(), () -> Validator.check(schedule).toString());
    assertEquals(stages, schedule.ranks());
    assertEquals(2L * stages * microBatches, schedule.size());
    for (int stage = 0; stage < stages; stage++) {
      int held = 0;
      int most = 0;
      for (Op op : schedule.program(stage)) {
        held += op.pass() == Pass.FORWARD ? 1 : -1;
        most = Math.max(most, held);
      }
      assertEquals(inFlight(stages, microBatches, stage), most, "stage " + stage);
      assertEquals(0, held);
    }
  }

  @ParameterizedTest(name = "{0} stages, {1} micro-batches")
  @CsvSource({"1, 1", "3, 4", "6, 2"})
  void passesKeepTheOrderOfTheMicroBatches(int stages, int microBatches) {
    Schedule schedule = schedule(stages, microBatches);
    for (int stage = 0; stage < stages; stage++) {
      for (Pass pass : List.of(Pass.FORWARD, Pass.BACKWARD)) {
        int next = 0;
        for (Op op : schedule.program(stage)) {
          if (op.pass() == pass) {
            assertEquals(next++, op.microBatch());
          }
        }
      }
    }
  }
}

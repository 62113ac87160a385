package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.RecordedStep;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two workers, of which the second is the last to end a step; step k lasts k + 1 seconds. */
class StepAssemblyTest {
  private static final long SECOND = 1_000_000_000;

  /** Of {@code 0..steps-1} the later half counts, of a long run the last 500. */
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 1", "3, 2", "10, 7", "999, 749", "1200, 950"})
  void theTypicalStepIsTheMedianOfTheLaterOnes(int steps, int typical) {
    StepAssembly ledger = new StepAssembly(by(2), new RunSchedule(0, steps, 0, 0, 0), () -> 0);
    long end = 0;
    for (int step = 0; step < steps; step++) {
      long begin = end;
      end += (step + 1) * SECOND;
      assertTrue(ledger.add(0, List.of(report(step, begin, end - SECOND / 2))).isEmpty());
      assertEquals(
          step + 1, ledger.add(1, List.of(report(step, begin, end))).get(0).seconds(), 1e-9);
    }
    assertEquals(steps, ledger.results().size());
    RecordedStep found = ledger.typical();
    assertEquals(typical + 1, found.seconds(), 1e-9);
    assertEquals(typical + 1, found.updateEnded()[1], 1e-9);
    assertEquals(typical + 0.5, found.updateEnded()[0], 1e-9);
  }

  /**
   * Of {@code 0..steps-1} the later half counts, of a long run the last 500; a quarter is shorter.
   */
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 1", "3, 1", "10, 6", "999, 624", "1200, 825"})
  void theCalmStepIsTheirLowerQuartile(int steps, int calm) {
    StepAssembly ledger = new StepAssembly(by(1), new RunSchedule(0, steps, 0, 0, 0), () -> 0);
    long end = 0;
    for (int step = 0; step < steps; step++) {
      long begin = end;
      end += (step + 1) * SECOND;
      ledger.add(0, List.of(report(step, begin, end)));
    }
    assertEquals(calm + 1, ledger.calm().seconds(), 1e-9);
    assertEquals(calm + 1, ledger.calm().updateEnded()[0], 1e-9);
  }

  /** A network of two layers, which all workers hold. */
  private static Assignment by(int workers) {
    List<StageLayers> whole = List.of(StageLayers.keeping(0, 1));
    Schedule schedule = OneForwardOneBackward.of(1, 1);
    return new Assignment(schedule, whole, List.of(workers), workers, false);
  }

  /** Of steps 5 to 9 the host took something from two; without them the median is another. */
  @Test
  void stepsThatLostProcessorTimeAreNotTypical() {
    int steps = 10;
    long[] stolen = {0, 0, 0, 0, 0, 2, 3, 0, 0, 0};
    AtomicLong ticks = new AtomicLong();
    StepAssembly ledger = new StepAssembly(by(1), new RunSchedule(0, steps, 0, 0, 0), ticks::get);
    long end = 0;
    for (int step = 0; step < steps; step++) {
      long begin = end;
      end += (step + 1) * SECOND;
      ticks.addAndGet(stolen[step]);
      ledger.add(0, List.of(report(step, begin, end)));
    }
    assertEquals(8 + 1, ledger.typical().seconds(), 1e-9);
  }

  /** Steps 5 and 6 are told together, and the host took something: either may have suffered. */
  @Test
  void whatWasStolenCountsForAllStepsThatAreToldTogether() {
    AtomicLong ticks = new AtomicLong();
    StepAssembly ledger = new StepAssembly(by(1), new RunSchedule(0, 11, 0, 0, 0), ticks::get);
    List<StepReport> reports = new ArrayList<>();
    long end = 0;
    for (int step = 0; step < 11; step++) {
      long begin = end;
      end += (step + 1) * SECOND;
      reports.add(report(step, begin, end));
    }
    ledger.add(0, reports.subList(0, 5));
    ticks.set(5);
    assertEquals(2, ledger.add(0, reports.subList(5, 7)).size());
    ledger.add(0, reports.subList(7, 11));
    assertEquals(9 + 1, ledger.typical().seconds(), 1e-9);
  }

  /** The first worker begins step 1 two seconds before the second has ended step 0. */
  @Test
  void aWorkerThatIsAheadLeavesNobodyIdleForLessThanNothing() {
    StepAssembly ledger = new StepAssembly(by(2), new RunSchedule(0, 3, 0, 0, 0), () -> 0);
    long[][] ends = {{2, 4}, {6, 6}, {8, 10}}; // by step and worker, who compute all the time
    double[] idle = new double[ends.length];
    long[] begin = {0, 0};
    for (int step = 0; step < ends.length; step++) {
      for (int worker = 0; worker < 2; worker++) {
        long end = ends[step][worker];
        StepReport report = report(step, begin[worker] * SECOND, end * SECOND);
        for (var result : ledger.add(worker, List.of(report))) {
          idle[step] = result.idleShare();
        }
        begin[worker] = end;
      }
    }
    assertArrayEquals(new double[] {0.25, 0, 0}, idle, 1e-9);
  }

  private static StepReport report(int step, long begin, long end) {
    long[] started = {begin, begin};
    long[] ended = {begin, begin};
    return new StepReport(step, 1, 0, 1, started, started, ended, begin, end);
  }
}

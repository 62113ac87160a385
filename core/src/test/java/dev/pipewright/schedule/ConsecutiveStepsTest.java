package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.StaticSimulator;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsecutiveStepsTest {
  private static final List<Schedule> SCHEDULES =
      List.of(
          GPipe.of(3, 4),
          OneForwardOneBackward.of(4, 6),
          ZeroBubbleH1.of(3, 5),
          ZeroBubbleH2.of(3, 6),
          Interleaved.of(2, 2, 4),
          Chimera.of(4, 4),
          DualPipe.of(4, 8),
          DualPipeV.of(2, 6));

  @Test
  void stepsBehindEachOtherAreComplete() {
    for (Schedule schedule : SCHEDULES) {
      Schedule three = ConsecutiveSteps.of(schedule, 3);
      assertTrue(Validator.check(three).isEmpty(), schedule.name());
      assertEquals(3 * schedule.size(), three.size(), schedule.name());
    }
  }

  @Test
  void oneStepIsTheStepItself() {
    for (Schedule schedule : SCHEDULES) {
      Schedule step = StepEnd.of(schedule);
      Schedule one = ConsecutiveSteps.of(step, 1);
      for (int rank = 0; rank < step.ranks(); rank++) {
        assertArrayEquals(step.packed(rank), one.packed(rank), schedule.name());
      }
    }
  }

  /** The last rank of 1F1B has its last gradient early and nothing to do before the first's. */
  @Test
  void aPipelineThatFlushesGainsNothingFromTheNextStep() {
    Schedule step = StepEnd.of(OneForwardOneBackward.of(3, 5));
    OpTimes times = OpTimes.equal(3, 1, 1, 1, 0);
    assertEquals(3 * 21, makespan(step, times, 3));
  }

  /** Where a rank ends early and begins early, steps run into each other: ZB-H2's parallelogram. */
  @Test
  void aParallelogramLosesItsBubbleOnlyOnce() {
    Schedule step = StepEnd.of(ZeroBubbleH2.of(3, 6));
    OpTimes times = OpTimes.equal(3, 1, 1, 1, 0);
    assertEquals(18, makespan(step, times, 3) - makespan(step, times, 2));
  }

  private static double makespan(Schedule step, OpTimes times, int steps) {
    return StaticSimulator.run(ConsecutiveSteps.of(step, steps), times).makespan();
  }
}

package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.StaticSimulator;
import java.util.List;
import org.junit.jupiter.api.Test;

class SvgScaleTest {
  /** Two stages, run once with ops that take {@code slow} and once with ops that take 1. */
  private static Runs runs(int microBatches, double slow, TimeNotation clock) {
    Schedule schedule = OneForwardOneBackward.of(2, microBatches);
    return new Runs(
        "mlp, 2 workers",
        "",
        clock,
        List.of(
            ScheduleRuns.of(
                "slow", 1, StaticSimulator.run(schedule, OpTimes.equal(2, slow, slow, slow, 0))),
            ScheduleRuns.of(
                "fast", 1, StaticSimulator.run(schedule, OpTimes.equal(2, 1, 1, 1, 0)))));
  }

  @Test
  void theLongestRunEndsWhereThePictureDoes() {
    Runs runs = runs(2, 2, TimeNotation.SECONDS);
    SvgScale scale = SvgScale.of(runs);
    assertEquals(scale.right(), scale.x(runs.all().get(0).makespan()), 1e-9);
    double half = (scale.left() + scale.right()) / 2;
    assertEquals(half, scale.x(runs.all().get(1).makespan()), 1e-9);
  }

  @Test
  void thePictureIsNoWiderWhereARunTookFarLonger() {
    assertTrue(
        SvgScale.of(runs(16, 50, TimeNotation.UNITS)).plot() > 1_040,
        "numbers in all cells need more room");
    assertEquals(1_200, SvgScale.of(runs(16, 50, TimeNotation.SECONDS)).width());
  }
}

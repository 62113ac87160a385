package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.execution.Comparison;
import dev.pipewright.execution.Comparison.Item;
import dev.pipewright.execution.Comparison.Scope;
import dev.pipewright.execution.StealTime;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class ComparisonReportTest {
  private static Comparison comparison() {
    Schedule schedule = OneForwardOneBackward.of(2, 2);
    Run fast = StaticSimulator.run(schedule, OpTimes.equal(2, 1, 1, 1, 0));
    Run slow = StaticSimulator.run(schedule, OpTimes.equal(2, 2, 2, 2, 0));
    return new Comparison(
        fast,
        fast,
        slow,
        List.of(
            new Item(Scope.STEP, "step", 9e-3, 10e-3, 20e-3),
            new Item(Scope.STEP, "idle share", 0.25, 0.25, 0.5),
            new Item(Scope.OP, "forward", 1e-3, 1e-3, 1.25e-3),
            new Item(Scope.EXCHANGE, "stage 0 to 1", 1e-6, 1e-6, Double.NaN),
            new Item(Scope.MEMORY, "worker 0", 1 << 20, 1 << 20, 2 << 20)),
        new StealTime(0.32));
  }

  private static final TrainingFigures FIGURES =
      new TrainingFigures(
          new Training(Optimizer.ADAM, Precision.FP32),
          OptionalDouble.empty(),
          64,
          List.of(8, 16),
          Optional.empty());

  @Test
  void theTerminalShowsEachItemWithItsErrors() {
    String text = ComparisonText.of("mlp on two", comparison(), 100, false);
    List<String> rows = text.lines().map(line -> line.strip().replaceAll(" {2,}", " | ")).toList();
    assertTrue(rows.contains("step | 20 ms | 9.00 ms | −55.0 % | 10 ms | −50.0 %"), text);
    assertTrue(
        rows.contains("idle share | 50.0 % | 25.0 % | −25.0 points | 25.0 % | −25.0 points"), text);
    assertTrue(rows.contains("stage 0 to 1 | – | 1.00 µs | – | 1.00 µs | –"), text);
    assertTrue(
        rows.contains("worker 0 | 2.00 MiB | 1.00 MiB | −50.0 % | 1.00 MiB | −50.0 %"), text);
    assertEquals(
        "The step took 20 ms; the prediction is off by −55.0 %, the simulation by −50.0 %.",
        text.lines().skip(1).findFirst().orElseThrow());
    assertTrue(text.contains("the host gave 32 % of the processor time"), text);
  }

  @Test
  void thePageHasThreeRunsAtOneScale() {
    Comparison comparison = comparison();
    List<ScheduleRun> runs =
        List.of(
            ScheduleRuns.of("measured", 1, comparison.measured()),
            ScheduleRuns.of("predicted", 1, comparison.predicted()),
            ScheduleRuns.of("simulated", 1, comparison.simulated()));
    String page = ComparisonHtml.of("mlp, 2 workers", runs, comparison, FIGURES);
    assertTrue(
        page.contains("Batch: 64 samples, the global batch; micro-batches of 8 to 16 per rank."),
        page);
    assertTrue(page.contains("<h1>mlp, 2 workers</h1>"), page);
    assertTrue(
        page.indexOf("The step took 20 ms; the prediction is off by −55.0 %")
            < page.indexOf("<table>"),
        "the verdict comes first");
    for (String name : List.of("predicted", "simulated", "measured")) {
      assertTrue(page.contains(">" + name + "</text>"), name);
    }
    // the measured run takes twice as long, so its last op ends where the picture does
    ScheduleScale scale = ScheduleScale.of(runs, 0, 0);
    assertEquals(scale.right(), scale.x(runs.get(0).makespan()), 1e-9);
    assertEquals(scale.right() / 2, scale.x(runs.get(1).makespan()), 1e-9);
  }

  @Test
  void thePageShowsTheWholeOfARunThatTookFarLonger() {
    Schedule schedule = OneForwardOneBackward.of(2, 16);
    Run fast = StaticSimulator.run(schedule, OpTimes.equal(2, 1, 1, 1, 0));
    Run slow = StaticSimulator.run(schedule, OpTimes.equal(2, 50, 50, 50, 0));
    List<ScheduleRun> runs =
        List.of(ScheduleRuns.of("measured", 1, slow), ScheduleRuns.of("predicted", 1, fast));
    assertTrue(ScheduleScale.of(runs, 0, 2).plot() > 1_040, "numbers in all cells need more room");
    assertEquals(1_040, ScheduleScale.fitted(runs).plot());
  }
}

package dev.pipewright.app.report.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.ScheduleRuns;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.app.report.timeline.TimeNotation;
import dev.pipewright.compare.Comparison;
import dev.pipewright.compare.Comparison.Item;
import dev.pipewright.compare.Comparison.Scope;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.execution.StealTime;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Precision;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

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

  private static Runs runs(Run... runs) {
    String[] names = {"measured", "predicted", "simulated"};
    List<Shown> all = new ArrayList<>();
    for (Run run : runs) {
      all.add(ScheduleRuns.of(names[all.size()], 1, run));
    }
    return new Runs("mlp, 2 workers", "", TimeNotation.SECONDS, all);
  }

  @Test
  void thePageHasThreeRunsAtOneScale() throws IOException {
    Comparison comparison = comparison();
    Runs runs = runs(comparison.measured(), comparison.predicted(), comparison.simulated());
    StringBuilder out = new StringBuilder();
    ComparisonHtml.write(runs, comparison, FIGURES, out);
    String page = out.toString();
    assertTrue(
        page.contains("Batch: 64 samples, the global batch; micro-batches of 8 to 16 per rank."),
        page);
    assertTrue(page.contains("<h1>mlp, 2 workers</h1>"), page);
    assertTrue(
        page.indexOf("The step took 20 ms; the prediction is off by −55.0 %")
            < page.indexOf("<table>"),
        "the verdict comes first");
    JsonNode data = PageReader.data(page);
    List<String> names = new ArrayList<>();
    data.get("runs").forEach(run -> names.add(run.get("name").asString()));
    assertEquals(List.of("measured", "predicted", "simulated"), names);
    // the measured run takes twice as long, so its last op ends where the picture does
    assertEquals(data.get("step").asDouble(), data.get("runs").get(0).get("step").asDouble());
    assertEquals(data.get("step").asDouble() / 2, data.get("runs").get(1).get("step").asDouble());
  }
}

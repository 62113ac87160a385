package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.RunnerUp;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.Stage;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.stream.Collectors;

/** A plan of PipeDream's optimizer for a terminal: what it is, why, and how good. */
public final class PipeDreamText {
  private static final int DEVICES = 24;

  private final StringBuilder out = new StringBuilder();
  private final int width;
  private final Ink ink;

  private PipeDreamText(int width, Ink ink) {
    this.width = width;
    this.ink = ink;
  }

  /**
   * The report, each line ended by a newline.
   *
   * @param title what is planned for what
   * @param provenance where the model's times come from
   * @param steady how the plan runs
   */
  public static String of(
      PipeDreamPlanning planning,
      String title,
      String provenance,
      double planningSeconds,
      SteadyLines steady,
      int width,
      boolean colours) {
    return new PipeDreamText(width, new Ink(colours))
        .text(planning, title, provenance, planningSeconds, steady);
  }

  private String text(
      PipeDreamPlanning planning,
      String title,
      String provenance,
      double planningSeconds,
      SteadyLines steady) {
    TextWidth.heading(out, ink, title, width);
    out.append("  ");
    String words =
        "pipeline without flushes: %s on %s, %s in flight, schedule pipedream"
            .formatted(
                Words.count(planning.stages().size(), "stage"),
                Words.count(planning.devices(), "device"),
                Words.count(planning.inFlight(), "mini-batch"));
    TextWidth.wrap(out, words, width, 4);
    out.append('\n');
    steady.of("mini-batch", planning.seconds(), "PipeDream's optimizer").forEach(this::line);
    line("lower bound", bound(planning));
    out.append('\n');
    TerminalTable.append(out, stages(planning.stages()), width, ink);
    out.append('\n');
    line("bound by", planning.binding());
    planning.runnerUp().ifPresent(rival -> line("runner-up", runnerUp(planning, rival)));
    line("data parallel", against(planning, planning.dataParallelSeconds()));
    out.append('\n');
    line("planned", planned(planning, planningSeconds));
    line("times", provenance);
    return out.toString();
  }

  private static String bound(PipeDreamPlanning planning) {
    return Units.seconds(planning.lowerBound().value())
        + " of the objective: "
        + planning.lowerBound().why()
        + (planning.exact()
            ? "; the plan is the optimizer's best"
            : "; the search was stopped, the best takes up to "
                + Units.percent(planning.gap() / (1 + planning.gap()))
                + " less");
  }

  private static String runnerUp(PipeDreamPlanning planning, RunnerUp rival) {
    return "the outermost level's last stage on "
        + Words.count(rival.lastStageDevices(), "device")
        + ": "
        + against(planning, rival.seconds());
  }

  private static String against(PipeDreamPlanning planning, double seconds) {
    return "%s by the same formula, %s"
        .formatted(Units.seconds(seconds), Numbers.change(seconds / planning.seconds() - 1));
  }

  private static String planned(PipeDreamPlanning planning, double seconds) {
    return "in "
        + Units.seconds(seconds)
        + " by pipedream; "
        + (planning.exact() ? "exact" : "stopped")
        + " over "
        + Words.count(planning.states(), "cut point");
  }

  private static Table stages(List<Stage> stages) {
    List<Column> columns = StageRows.columns();
    columns.add(Column.text("replicas\nby level"));
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("compute\non one"));
    columns.add(Column.number("per mini-\nbatch"));
    return new Table(
        columns, StageRows.of(stages.stream().map(PipeDreamText::stage).toList(), DEVICES));
  }

  private static StageRows.Stage stage(Stage stage) {
    String replicas =
        stage.replicas().stream().map(String::valueOf).collect(Collectors.joining("×"));
    Cell compute = Cell.seconds(stage.computeSeconds());
    Cell each = Cell.seconds(stage.seconds());
    return new StageRows.Stage(
        stage.firstLayer(),
        stage.lastLayer(),
        stage.devices(),
        List.of(replicas, compute.text(), each.text()),
        List.of(Cell.of(replicas), Cell.of(Integer.toString(stage.inFlight())), compute, each));
  }

  private void line(SteadyLines.Line line) {
    line(line.words(), line.value());
  }

  private void line(String words, String value) {
    FigureLine.append(out, ink, width, words, value);
  }
}

package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.RunnerUp;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.Stage;
import dev.pipewright.units.Units;
import java.util.ArrayList;
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
    ink.paint(out, Ink.BOLD, TextWidth.cut(title, width));
    out.append("\n  pipeline without flushes: ")
        .append(Words.count(planning.stages().size(), "stage"))
        .append(" on ")
        .append(Words.count(planning.devices(), "device"))
        .append(", ")
        .append(planning.inFlight())
        .append(planning.inFlight() == 1 ? " mini-batch" : " mini-batches")
        .append(" under way, schedule pipedream\n\n");
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
    line("numbers", provenance);
    return out.toString();
  }

  private static String bound(PipeDreamPlanning planning) {
    return Units.seconds(planning.lowerBound().seconds())
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
        + Words.count(planning.states(), "place")
        + " to cut";
  }

  private static Table stages(List<Stage> stages) {
    List<Column> columns =
        List.of(
            Column.number("stage"),
            Column.number("layers"),
            Column.text("devices"),
            Column.text("replicas\nby level"),
            Column.number("in\nflight"),
            Column.number("compute\non one"),
            Column.number("per mini-\nbatch"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Stage stage : stages) {
      rows.add(
          Table.row(
              Cell.of(Integer.toString(rows.size())),
              Cell.of(Words.range(stage.firstLayer(), stage.lastLayer())),
              Cell.of(Words.devices(stage.devices(), DEVICES)),
              Cell.of(
                  stage.replicas().stream().map(String::valueOf).collect(Collectors.joining("×"))),
              Cell.of(Integer.toString(stage.inFlight())),
              Cell.seconds(stage.computeSeconds()),
              Cell.seconds(stage.seconds())));
    }
    return new Table(columns, rows);
  }

  private void line(SteadyLines.Line line) {
    line(line.words(), line.value());
  }

  private void line(String words, String value) {
    FigureLine.append(out, ink, width, words, value);
  }
}

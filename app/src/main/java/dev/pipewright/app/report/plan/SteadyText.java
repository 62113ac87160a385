package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.OptionalDouble;

/** How an asynchronous plan runs once its pipeline is full, for a terminal. */
public final class SteadyText {
  private static final int DEVICES = 24;
  private static final double UNLIMITED = 1L << 60; // bytes

  /**
   * What was simulated and found.
   *
   * @param title what runs on what
   * @param expected by the planner, where its file says
   * @param leftOut what the planner's formula does not count
   */
  public record Found(
      String title,
      String schedule,
      double seconds,
      OptionalDouble expected,
      int rounds,
      double idleShare,
      String leftOut) {}

  /** A stage with the peak of its fullest device. */
  public record Row(StagePlan stage, int versions, double peakBytes, double capacityBytes) {}

  private final StringBuilder out = new StringBuilder();
  private final int width;
  private final Ink ink;

  private SteadyText(int width, Ink ink) {
    this.width = width;
    this.ink = ink;
  }

  /** The report, each line ended by a newline. */
  public static String of(Found found, List<Row> rows, int width, boolean colours) {
    return new SteadyText(width, new Ink(colours)).text(found, rows);
  }

  private String text(Found found, List<Row> rows) {
    TextWidth.heading(out, ink, found.title, width);
    out.append("  pipeline without flushes: ")
        .append(Words.count(rows.size(), "stage"))
        .append(", schedule ")
        .append(found.schedule)
        .append("\n\n");
    String what = found.schedule.equals("pipedream") ? "mini-batch" : "update";
    line(
        what,
        Units.seconds(found.seconds)
            + " simulated, mean of "
            + Words.count(found.rounds, "round")
            + " in the steady state");
    if (found.expected.isPresent()) {
      String planned = Words.planned(found.expected.getAsDouble(), found.seconds, "simulation");
      line("planned", planned + (planned.contains(";") ? ": " + found.leftOut : ""));
    }
    line(
        "idle",
        Units.percent(found.idleShare) + " of the devices' time, once the pipeline is full");
    out.append('\n');
    TerminalTable.append(out, stages(rows), width, ink);
    return out.toString();
  }

  private static Table stages(List<Row> stages) {
    List<Column> columns = StageRows.columns();
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("versions\nof weights"));
    columns.add(Column.number("peak"));
    columns.add(Column.number("of\nmemory"));
    return new Table(
        columns, StageRows.of(stages.stream().map(SteadyText::stage).toList(), DEVICES));
  }

  private static StageRows.Stage stage(Row row) {
    boolean limited = row.capacityBytes < UNLIMITED;
    Cell peak = Cell.of(Units.binary(row.peakBytes, "B"));
    return new StageRows.Stage(
        row.stage.firstLayer(),
        row.stage.lastLayer(),
        row.stage.devices(),
        List.of(peak.text()),
        List.of(
            Cell.of(Integer.toString(row.stage.inFlight())),
            Cell.of(Integer.toString(row.versions)),
            peak,
            Cell.of(limited ? Units.percent(row.peakBytes / row.capacityBytes) : "—")));
  }

  private void line(String words, String value) {
    FigureLine.append(out, ink, width, words, value);
  }
}

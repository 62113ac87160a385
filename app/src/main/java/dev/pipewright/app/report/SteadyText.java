package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Units;
import java.util.ArrayList;
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
    ink.paint(out, Ink.BOLD, TextWidth.cut(found.title, width));
    out.append("\n  pipeline without flushes: ")
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
      double expected = found.expected.getAsDouble();
      line(
          "planned",
          Units.seconds(expected)
              + (expected == 0
                  ? ""
                  : "; the simulation %s: %s"
                      .formatted(Numbers.change(found.seconds / expected - 1), found.leftOut)));
    }
    line(
        "idle",
        Units.percent(found.idleShare) + " of the devices' time, once the pipeline is full");
    out.append('\n');
    TerminalTable.append(out, stages(rows), width, ink);
    return out.toString();
  }

  private static Table stages(List<Row> stages) {
    List<Column> columns =
        List.of(
            Column.number("stage"),
            Column.number("layers"),
            Column.text("devices"),
            Column.number("in\nflight"),
            Column.number("versions\nof weights"),
            Column.number("peak"),
            Column.number("of\nmemory"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Row row : stages) {
      boolean limited = row.capacityBytes < UNLIMITED;
      rows.add(
          Table.row(
              Cell.of(Integer.toString(rows.size())),
              Cell.of(Words.range(row.stage.firstLayer(), row.stage.lastLayer())),
              Cell.of(Words.devices(row.stage.devices(), DEVICES)),
              Cell.of(Integer.toString(row.stage.inFlight())),
              Cell.of(Integer.toString(row.versions)),
              Cell.of(Units.binary(row.peakBytes, "B")),
              Cell.of(limited ? Units.percent(row.peakBytes / row.capacityBytes) : "—")));
    }
    return new Table(columns, rows);
  }

  private void line(String words, String value) {
    FigureLine.append(out, ink, width, words, value);
  }
}

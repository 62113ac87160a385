package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import java.util.ArrayList;
import java.util.List;

/** Devices that do the same round after round, for a terminal. */
public final class RoundsText {
  /**
   * A figure.
   *
   * @param name in a word or two
   */
  public record Line(String name, String value) {}

  /**
   * A device.
   *
   * @param work what it does, in words
   * @param busy how much of a round, as a share; 0 for an idle one
   */
  public record Row(int device, String work, String load, double busy, String memory) {}

  private RoundsText() {}

  /**
   * The report, each line ended by a newline.
   *
   * @param title what runs on what
   * @param what is simulated
   * @param load the name of the column of loads
   */
  public static String of(
      String title,
      String what,
      List<Line> lines,
      String load,
      List<Row> rows,
      int width,
      boolean colours) {
    Ink ink = new Ink(colours);
    StringBuilder out = new StringBuilder();
    ink.paint(out, Ink.BOLD, TextWidth.cut(title, width));
    out.append("\n  ");
    TextWidth.wrap(out, what, width, 2);
    out.append('\n');
    lines.forEach(line -> FigureLine.append(out, ink, width, line.name(), line.value()));
    out.append('\n');
    List<Column> columns =
        List.of(
            Column.number("device"),
            Column.text("work"),
            Column.number(load),
            Column.text("busy"),
            Column.number("memory"));
    List<List<Cell>> cells = new ArrayList<>();
    for (Row row : rows) {
      cells.add(
          Table.row(
              Cell.of(Integer.toString(row.device)),
              Cell.of(TextWidth.cut(row.work, 48)),
              Cell.of(row.load),
              new Cell(dev.pipewright.units.Units.percent(row.busy), Math.min(1, row.busy)),
              Cell.of(row.memory)));
    }
    TerminalTable.append(out, new Table(columns, cells), width, ink);
    return out.toString();
  }
}

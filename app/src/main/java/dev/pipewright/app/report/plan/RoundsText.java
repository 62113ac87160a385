package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** Devices that do the same round after round, for a terminal; equal neighbours in one row. */
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
  public record Row(int device, String work, String load, double busy, String memory) {
    private Row at(int device) {
      return new Row(device, work, load, busy, memory);
    }
  }

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
    TextWidth.heading(out, ink, title, width);
    out.append("  ");
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
    for (int first = 0; first < rows.size(); ) {
      int last = first;
      while (last + 1 < rows.size() && rows.get(last + 1).at(0).equals(rows.get(first).at(0))) {
        last++;
      }
      Row row = rows.get(first);
      cells.add(
          Table.row(
              Cell.of(Words.range(row.device, rows.get(last).device)),
              Cell.of(TextWidth.cut(row.work, 48)),
              Cell.of(row.load),
              new Cell(Units.percent(row.busy), Math.min(1, row.busy)),
              Cell.of(row.memory)));
      first = last + 1;
    }
    TerminalTable.append(out, new Table(columns, cells), width, ink);
    return out.toString();
  }
}

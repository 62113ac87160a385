package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.plan.PlanSheet.Part;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** Sheets of devices that do the same round after round; equal neighbours share a row. */
public final class RoundsSheet {
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

  private RoundsSheet() {}

  /**
   * The sheet.
   *
   * @param title what runs on what
   * @param what is simulated
   * @param load the name of the column of loads
   */
  public static PlanSheet of(
      String title, String what, List<Figure> figures, String load, List<Row> rows) {
    return new PlanSheet(
        title,
        what,
        List.of(new Part.Figures(figures), new Part.Rows("Devices", devices(load, rows))));
  }

  private static Table devices(String load, List<Row> rows) {
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
    return new Table(columns, cells);
  }
}

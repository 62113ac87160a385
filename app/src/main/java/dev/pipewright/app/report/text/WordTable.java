package dev.pipewright.app.report.text;

import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A table of words for a terminal, where a command has no report of its own. */
public final class WordTable {
  private final List<Column> columns = new ArrayList<>();
  private final List<List<Cell>> rows = new ArrayList<>();

  /** A column whose cells begin at its left edge; a newline breaks its heading once. */
  public WordTable text(String... headings) {
    Arrays.stream(headings).map(Column::text).forEach(columns::add);
    return this;
  }

  /** Columns whose cells end at their right edges. */
  public WordTable numbers(String... headings) {
    Arrays.stream(headings).map(Column::number).forEach(columns::add);
    return this;
  }

  /** A cell for each column. */
  public WordTable row(Object... cells) {
    rows.add(Arrays.stream(cells).map(cell -> Cell.of(cell.toString())).toList());
    return this;
  }

  /** The table, each line ended by a newline; the columns that have no room come below. */
  public String in(int width, boolean colours) {
    StringBuilder out = new StringBuilder();
    TerminalTable.append(out, new Table(columns, rows), width, new Ink(colours));
    return out.toString();
  }
}

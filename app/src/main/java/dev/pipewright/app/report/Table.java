package dev.pipewright.app.report;

import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** Rows of cells under headings, for a terminal or a page. */
record Table(List<Column> columns, List<List<Cell>> rows) {

  /**
   * A heading.
   *
   * @param heading may have a line break, which pages leave out, after a soft hyphen too
   * @param right whether cells are flush right, as numbers are
   */
  record Column(String heading, boolean right) {
    /** The heading without its break: a soft hyphen joins, {@code all-} keeps its own. */
    String inOneLine() {
      return heading.replace("\u00ad\n", "").replace("-\n", "-").replace('\n', ' ');
    }

    static Column text(String heading) {
      return new Column(heading, false);
    }

    static Column number(String heading) {
      return new Column(heading, true);
    }
  }

  /**
   * One value.
   *
   * @param bar a share from 0 to 1 to show as a bar in front of the text; NaN for none
   */
  record Cell(String text, double bar) {
    static Cell of(String text) {
      return new Cell(text, Double.NaN);
    }

    /** A duration; a dash for none. */
    static Cell seconds(double seconds) {
      return of(seconds == 0 ? "–" : Units.seconds(seconds));
    }

    boolean hasBar() {
      return !Double.isNaN(bar);
    }

    boolean isEmpty() {
      return text.isEmpty() && !hasBar();
    }
  }

  /** One row of cells. */
  static List<Cell> row(Cell... cells) {
    List<Cell> row = new ArrayList<>(cells.length);
    for (Cell cell : cells) {
      row.add(cell);
    }
    return row;
  }
}

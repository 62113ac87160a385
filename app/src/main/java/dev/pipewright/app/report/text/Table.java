package dev.pipewright.app.report.text;

import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** Rows of cells under headings, for a terminal or a page. */
public record Table(List<Column> columns, List<List<Cell>> rows) {

  /**
   * A heading.
   *
   * @param heading may have a line break, which pages leave out, after a soft hyphen too
   * @param right whether cells are flush right, as numbers are
   */
  public record Column(String heading, boolean right) {
    /** The heading without its break: a soft hyphen joins, {@code all-} keeps its own. */
    public String inOneLine() {
      return heading.replace("\u00ad\n", "").replace("-\n", "-").replace('\n', ' ');
    }

    public static Column text(String heading) {
      return new Column(heading, false);
    }

    public static Column number(String heading) {
      return new Column(heading, true);
    }
  }

  /**
   * One value.
   *
   * @param bar a share from 0 to 1 to show as a bar in front of the text; NaN for none
   */
  public record Cell(String text, double bar) {
    public static Cell of(String text) {
      return new Cell(text, Double.NaN);
    }

    /** A duration; a dash for none. */
    public static Cell seconds(double seconds) {
      return of(seconds == 0 ? "–" : Units.seconds(seconds));
    }

    public boolean hasBar() {
      return !Double.isNaN(bar);
    }

    boolean isEmpty() {
      return text.isEmpty() && !hasBar();
    }
  }

  /** One row of cells. */
  public static List<Cell> row(Cell... cells) {
    List<Cell> row = new ArrayList<>(cells.length);
    for (Cell cell : cells) {
      row.add(cell);
    }
    return row;
  }
}

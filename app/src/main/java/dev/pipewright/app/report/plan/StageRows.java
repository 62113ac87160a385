package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import java.util.ArrayList;
import java.util.List;

/** The rows of a table of stages; neighbours that are alike share one. */
final class StageRows {
  private static final int FEWEST_FOLDED = 4; // stages

  /**
   * A stage.
   *
   * @param alike what stages in one row have in common, in addition to how many layers and devices
   *     they have
   * @param rest the cells after number, layers and devices; where those of the first and the last
   *     stage of a row differ, both are shown
   */
  record Stage(
      int firstLayer, int lastLayer, List<Integer> devices, List<String> alike, List<Cell> rest) {
    private boolean like(Stage that) {
      return layers() == that.layers()
          && devices.size() == that.devices.size()
          && alike.equals(that.alike);
    }

    private int layers() {
      return lastLayer - firstLayer + 1;
    }
  }

  private StageRows() {}

  /** The columns that every table of stages begins with. */
  static List<Column> columns() {
    return new ArrayList<>(
        List.of(Column.number("stage"), Column.number("layers"), Column.text("devices")));
  }

  /** The rows, with lists of devices in at most so many columns. */
  static List<List<Cell>> of(List<Stage> stages, int deviceWidth) {
    List<List<Cell>> rows = new ArrayList<>();
    for (int first = 0; first < stages.size(); ) {
      int last = first;
      while (last + 1 < stages.size() && stages.get(first).like(stages.get(last + 1))) {
        last++;
      }
      last = last - first + 1 >= FEWEST_FOLDED ? last : first;
      rows.add(row(stages, first, last, deviceWidth));
      first = last + 1;
    }
    return rows;
  }

  private static List<Cell> row(List<Stage> stages, int first, int last, int deviceWidth) {
    Stage from = stages.get(first);
    Stage to = stages.get(last);
    List<Integer> devices = devices(stages.subList(first, last + 1));
    boolean several = last > first;
    List<Cell> row = new ArrayList<>();
    row.add(Cell.of(Words.range(first, last)));
    row.add(
        Cell.of(Words.range(from.firstLayer, to.lastLayer) + (several ? each(from.layers()) : "")));
    row.add(
        Cell.of(Words.devices(devices, deviceWidth) + (several ? each(from.devices.size()) : "")));
    for (int i = 0; i < from.rest.size(); i++) {
      row.add(together(from.rest.get(i), to.rest.get(i)));
    }
    return row;
  }

  /** Stages of one rank share their devices, which then are listed once, in order. */
  private static List<Integer> devices(List<Stage> stages) {
    List<Integer> all = stages.stream().flatMap(stage -> stage.devices.stream()).toList();
    List<Integer> once = all.stream().distinct().sorted().toList();
    return once.size() < all.size() ? once : all;
  }

  /** {@code 62 … 58}, where the cells differ. */
  static Cell together(Cell first, Cell last) {
    String text = first.text();
    return text.equals(last.text())
        ? first
        : new Cell(from(text) + " … " + last.text(), Math.max(first.bar(), last.bar()));
  }

  /** {@code , 2 each}; nothing where there is one for each. */
  private static String each(int count) {
    return count == 1 ? "" : ", " + count + " each";
  }

  /** Without the capacity, which is the last stage's too. */
  private static String from(String text) {
    int slash = text.indexOf(" / ");
    return slash < 0 ? text : text.substring(0, slash);
  }
}

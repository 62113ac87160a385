package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.StageCost.Category;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What each device of a plan's stages holds at its peak, by category. Neighbours that differ in
 * activations at most are in one row.
 */
final class MemoryTable {
  private static final int FEWEST_FOLDED = 4; // stages that differ in activations

  private MemoryTable() {}

  /** The categories that occur, in one unit; empty where only sums are known. */
  static Optional<Table> of(Assessment costs) {
    List<PeakMemory> stages = costs.memory();
    if (!stages.stream().allMatch(stage -> stage.states().apart())) {
      return Optional.empty();
    }
    double whole = stages.stream().mapToDouble(PeakMemory::peakBytes).max().orElse(0);
    List<Category> shown =
        Arrays.stream(Category.values())
            .filter(each -> stages.stream().anyMatch(stage -> stage.bytes(each) > 0))
            .toList();
    List<Column> columns = new ArrayList<>();
    columns.add(Column.text("memory in\n" + Numbers.byteUnit(whole)));
    shown.forEach(each -> columns.add(Column.number(word(each))));
    columns.add(Column.number("all"));
    List<List<Cell>> rows = new ArrayList<>();
    List<List<Cell>> cells = stages.stream().map(stage -> cells(stage, shown, whole)).toList();
    for (int first = 0; first < cells.size(); ) {
      List<Cell> row = cells.get(first);
      int equal = run(cells, first, other -> row.equals(other));
      int alike = run(cells, first, other -> alike(shown, row, other));
      int last = alike - first + 1 >= FEWEST_FOLDED ? alike : equal;
      List<Cell> end = cells.get(last);
      List<Cell> folded = new ArrayList<>(List.of(Cell.of("stage " + Words.range(first, last))));
      for (int i = 0; i < row.size(); i++) {
        folded.add(StageRows.together(row.get(i), end.get(i)));
      }
      rows.add(folded);
      first = last + 1;
    }
    return Optional.of(new Table(columns, rows));
  }

  /** The last of the rows from one on that pass. */
  private static int run(List<List<Cell>> rows, int first, Predicate<List<Cell>> passes) {
    int last = first;
    while (last + 1 < rows.size() && passes.test(rows.get(last + 1))) {
      last++;
    }
    return last;
  }

  /** Whether all but activations, and with them the sum, is shown alike. */
  private static boolean alike(List<Category> shown, List<Cell> one, List<Cell> other) {
    for (int i = 0; i < shown.size(); i++) {
      if (shown.get(i) != Category.ACTIVATIONS && !one.get(i).equals(other.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static List<Cell> cells(PeakMemory memory, List<Category> shown, double whole) {
    List<Cell> row = new ArrayList<>();
    for (Category category : shown) {
      row.add(Cell.of(Numbers.bytesIn(memory.bytes(category), whole)));
    }
    row.add(Cell.of(Numbers.bytesIn(memory.peakBytes(), whole)));
    return row;
  }

  private static String word(Category category) {
    return switch (category) {
      case PARAMETERS -> "parameters";
      case GRADIENTS -> "gradients";
      case OPTIMIZER -> "optimizer";
      case ACTIVATIONS -> "activations";
      case WORKSPACE -> "workspace";
      case BUFFERS -> "buffers";
    };
  }
}

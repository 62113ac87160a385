package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost.Category;
import dev.pipewright.cost.StageCost.StageMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What each device of a plan's stages holds at its peak, by category; equal stages in one row. */
final class MemoryTable {
  private MemoryTable() {}

  /** The categories that occur, in one unit. */
  static Table of(Assessment costs) {
    List<StageMemory> stages = costs.stages().stream().map(stage -> stage.memory()).toList();
    double whole = stages.stream().mapToDouble(StageMemory::peakBytes).max().orElse(0);
    List<Category> shown =
        Arrays.stream(Category.values())
            .filter(each -> stages.stream().anyMatch(stage -> stage.bytes(each) > 0))
            .toList();
    List<Column> columns = new ArrayList<>();
    columns.add(Column.text("memory in\n" + Numbers.byteUnit(whole)));
    shown.forEach(each -> columns.add(Column.number(word(each))));
    columns.add(Column.number("all"));
    List<List<Cell>> rows = new ArrayList<>();
    for (int first = 0; first < stages.size(); ) {
      int last = first;
      while (last + 1 < stages.size() && alike(stages.get(first), stages.get(last + 1))) {
        last++;
      }
      rows.add(row(Words.range(first, last), stages.get(first), shown, whole));
      first = last + 1;
    }
    return new Table(columns, rows);
  }

  private static boolean alike(StageMemory one, StageMemory other) {
    return one.categories().equals(other.categories());
  }

  private static List<Cell> row(
      String stages, StageMemory memory, List<Category> shown, double whole) {
    List<Cell> row = new ArrayList<>();
    row.add(Cell.of("stage " + stages));
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

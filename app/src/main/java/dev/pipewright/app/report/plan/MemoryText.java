package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.RankMemory.Category;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What each stage holds when it holds most, as text. */
public final class MemoryText {
  private MemoryText() {}

  /** A table of the categories that occur. */
  public static String of(List<RankMemory> stages, int columns, boolean colours) {
    List<Category> shown =
        Arrays.stream(Category.values())
            .filter(each -> stages.stream().anyMatch(stage -> stage.peak().of(each) > 0))
            .toList();
    List<Column> heads = new ArrayList<>();
    heads.addAll(List.of(Column.number("stage"), Column.number("most"), Column.number("first at")));
    shown.forEach(each -> heads.add(Column.number(word(each))));
    List<List<Cell>> rows = new ArrayList<>();
    for (RankMemory stage : stages) {
      List<Cell> row = new ArrayList<>();
      row.add(Cell.of(String.valueOf(stage.rank())));
      row.add(Cell.of(Numbers.bytes(stage.peak().bytes())));
      row.add(Cell.of(Units.seconds(stage.peak().seconds())));
      shown.forEach(each -> row.add(Cell.of(Numbers.bytes(stage.peak().of(each)))));
      rows.add(row);
    }
    StringBuilder out = new StringBuilder("memory of each device when it is fullest\n\n");
    TerminalTable.append(out, new Table(heads, rows), columns, new Ink(colours));
    return out.toString();
  }

  /** A category's name in tables. */
  static String word(Category category) {
    return switch (category) {
      case PARAMETERS -> "parameters";
      case STASHED_PARAMETERS -> "older\nparameters";
      case GRADIENTS -> "gradients";
      case OPTIMIZER -> "optimizer";
      case ACTIVATIONS -> "activations";
      case BUFFERS -> "buffers";
    };
  }
}

package dev.pipewright.app.report.compare;

import dev.pipewright.app.report.compare.CyclicMemoryCurves.Workers;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** What cyclic workers hold and what workers in step hold, as text. */
public final class CyclicMemoryText {
  private static final String LEVELS = " ▁▂▃▄▅▆▇█";
  private static final int LABEL = 16;

  private CyclicMemoryText() {}

  /** At most {@code columns} wide, but for long names of files. */
  public static String of(CyclicMemoryCurves curves, int columns, boolean colours) {
    StringBuilder out = new StringBuilder();
    out.append(curves.source())
        .append(": ")
        .append(Words.count(curves.samples(), "sample"))
        .append(" over ")
        .append(Units.seconds(curves.periodSeconds()))
        .append('\n');
    out.append("per worker, without the ")
        .append(Numbers.bytes(curves.baseline()))
        .append(curves.smallest() ? " of its smallest sample" : " of --baseline")
        .append(", there all the time\n\n");
    TerminalTable.append(out, table(curves), columns, new Ink(colours));
    out.append("\nover one training step; a full block is ")
        .append(Numbers.bytes(curves.most()))
        .append('\n');
    int width = Math.max(16, Math.min(columns - LABEL - 4, 64));
    line(out, "in step", curves.inStep(), curves.most(), width);
    for (Workers workers : curves.cyclic()) {
      line(out, workers.count() + " cyclic", workers.bytes(), curves.most(), width);
    }
    return out.toString();
  }

  private static Table table(CyclicMemoryCurves curves) {
    List<Column> columns =
        List.of(
            Column.number("workers"),
            Column.number("most\nin step"),
            Column.number("most\ncyclic"),
            Column.number("ratio"),
            Column.number("reduction"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Workers workers : curves.cyclic()) {
      rows.add(
          Table.row(
              Cell.of(Numbers.grouped(workers.count())),
              Cell.of(Numbers.bytes(curves.most())),
              Cell.of(Numbers.bytes(workers.most())),
              Cell.of(Units.fixed(workers.most() / curves.most(), 3)),
              Cell.of(Units.percent(curves.reduction(workers)))));
    }
    return new Table(columns, rows);
  }

  private static void line(StringBuilder out, String name, double[] bytes, double full, int width) {
    out.append("  ");
    TextWidth.pad(out, name, LABEL - 2, true);
    out.append("  ");
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < width; column++) {
      int from = column * bytes.length / width;
      int to = Math.max(from + 1, (column + 1) * bytes.length / width);
      double highest = 0;
      for (int i = from; i < to; i++) {
        highest = Math.max(highest, bytes[i]);
      }
      int level = (int) Math.ceil(highest / full * (LEVELS.length() - 1) - 1e-9);
      line.append(LEVELS.charAt(Math.max(0, Math.min(LEVELS.length() - 1, level))));
    }
    out.append(line.toString().stripTrailing()).append('\n');
  }
}

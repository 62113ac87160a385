package dev.pipewright.app.report.compare;

import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.compare.Comparison;
import dev.pipewright.compare.Comparison.Scope;

/** A comparison for a terminal. */
public final class ComparisonText {
  private ComparisonText() {}

  /** The tables, each line ended by a newline. */
  public static String of(String title, Comparison comparison, int columns, boolean colours) {
    Ink ink = new Ink(colours);
    StringBuilder out = new StringBuilder();
    TextWidth.heading(out, ink, title, columns);
    TextWidth.wrap(out, ComparisonTable.verdict(comparison), columns, 0);
    for (Scope scope : Scope.values()) {
      Table table = ComparisonTable.of(comparison, scope, ComparisonTable.heading(scope));
      if (!table.rows().isEmpty()) {
        out.append('\n');
        TerminalTable.append(out, table, columns, ink);
      }
    }
    comparison.stolen().remark().ifPresent(remark -> out.append('\n').append(remark).append('\n'));
    return out.toString();
  }
}

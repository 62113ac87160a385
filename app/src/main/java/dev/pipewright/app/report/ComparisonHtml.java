package dev.pipewright.app.report;

import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.execution.Comparison;
import dev.pipewright.execution.Comparison.Scope;
import java.util.List;

/** A comparison as a page: its tables, and the three runs below each other at one scale of time. */
public final class ComparisonHtml {
  private ComparisonHtml() {}

  /**
   * The whole document.
   *
   * @param title what was run
   * @param runs measured, predicted and simulated
   * @param figures of the measured step
   */
  public static String of(
      String title, List<ScheduleRun> runs, Comparison comparison, TrainingFigures figures) {
    StringBuilder tables = new StringBuilder("<div class=\"aligned\">\n");
    for (Scope scope : Scope.values()) {
      Table table = ComparisonTable.of(comparison, scope, ComparisonTable.heading(scope));
      if (!table.rows().isEmpty()) {
        tables
            .append("<section aria-label=\"")
            .append(ComparisonTable.heading(scope))
            .append("\">\n")
            .append(HtmlSections.table(table, ComparisonTable.heading(scope)))
            .append("</section>\n");
      }
    }
    tables.append("</div>\n");
    return ScheduleHtml.of(
        runs,
        title,
        "<b>"
            + Markup.of(Words.glue(ComparisonTable.verdict(comparison)))
            + "</b>"
            + Markup.of(
                comparison.stolen().remark().map(remark -> " Note: " + remark + ".").orElse("")
                    + " Times in the figures are in seconds. "
                    + TrainingLines.sentences(figures)),
        tables.toString(),
        ScheduleScale.fitted(runs));
  }
}

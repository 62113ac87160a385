package dev.pipewright.app.report.compare;

import dev.pipewright.app.report.page.HtmlSections;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.ScheduleHtml;
import dev.pipewright.compare.Comparison;
import dev.pipewright.compare.Comparison.Scope;
import dev.pipewright.cost.TrainingFigures;
import java.io.IOException;

/** A comparison as a page: its tables, and the three runs below each other at one scale of time. */
public final class ComparisonHtml {
  private ComparisonHtml() {}

  /**
   * Appends the whole document.
   *
   * @param runs measured, predicted and simulated
   * @param figures of the measured step
   */
  public static void write(
      Runs runs, Comparison comparison, TrainingFigures figures, Appendable out)
      throws IOException {
    StringBuilder tables = new StringBuilder("<div class=\"aligned\">\n");
    for (Scope scope : Scope.values()) {
      String heading = ComparisonTable.heading(scope);
      Table table = ComparisonTable.of(comparison, scope, heading);
      if (!table.rows().isEmpty()) {
        tables.append("<section aria-label=\"").append(heading).append("\">\n");
        tables.append(HtmlSections.table(table, heading)).append("</section>\n");
      }
    }
    tables.append("</div>\n");
    String note = comparison.stolen().remark().map(remark -> " Note: " + remark + ".").orElse("");
    String verdict = Words.glue(ComparisonTable.verdict(comparison));
    ScheduleHtml.write(
        runs,
        "<b>%s</b>%s %s"
            .formatted(
                Markup.of(verdict), Markup.of(note), Markup.of(TrainingLines.sentences(figures))),
        tables.toString(),
        out);
  }
}

package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.StackChart;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.page.Markup;
import java.util.function.DoubleFunction;

/** Pictures of a study as parts of a page, which arranges them by its width. */
final class StudyPanels {
  private static final double WIDE = 680;
  private static final double NARROW = 360;

  private StudyPanels() {}

  /** The legend and the panels of a chart. */
  static String of(StackChart chart) {
    StringBuilder out = new StringBuilder("<p class=\"hint\">");
    out.append(Markup.of(chart.hint())).append("</p>\n<ul class=\"legend\">");
    for (ChartHead.Entry entry : ChartHead.entries(chart)) {
      Svg sample = Svg.inPage(12, 12, "");
      ChartHead.sample(sample, entry, 0, 0);
      out.append("<li>").append(sample.end());
      out.append(Markup.of(entry.words())).append("</li>");
    }
    out.append("</ul>\n<div class=\"panels\" style=\"--panels:");
    out.append(Math.max(1, chart.panels().size())).append("\">\n");
    chart.inPage().forEach(out::append);
    return out.append("</div>\n").toString();
  }

  /** A picture for pages of two widths, of which one is shown. */
  static String twoSizes(DoubleFunction<String> picture) {
    return "<div class=\"wide\">"
        + picture.apply(WIDE)
        + "</div><div class=\"narrow\">"
        + picture.apply(NARROW)
        + "</div>\n";
  }
}

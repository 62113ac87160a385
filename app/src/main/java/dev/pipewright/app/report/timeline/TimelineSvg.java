package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.chart.SvgLegend;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.TextWidth;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs as the picture that papers draw, several below each other on the same scale of time, with
 * the figures that compare them.
 */
public final class TimelineSvg {
  private static final double NARROWEST = 760; // figures
  private static final double COLUMN = 94;
  private static final String SOFT = "font-size=\"12\" class=\"soft\"";

  private TimelineSvg() {}

  /**
   * The picture.
   *
   * @param kind what the title begins with, which tells whose file it is
   */
  public static String of(String kind, Runs runs) {
    SvgScale scale = SvgScale.of(runs);
    double width = Math.max(NARROWEST, scale.width());
    SvgLegend legend = RunLegend.of(runs, width - 2 * SvgScale.EDGE);
    List<String> lines = lines(runs);
    double table = runs.areSeveral() ? 48 + runs.all().size() * 20 : 0;
    double legendTop = 44 + 20 * lines.size() + table;
    double top = legendTop + legend.height() + 12;
    double height = top;
    for (Shown run : runs.all()) {
      height += SvgRun.height(run, scale);
    }
    Svg svg = Svg.styled(width, height, (kind + " " + runs.title()).strip(), RunLegend.style(runs));
    String head = "font-size=\"18\" font-weight=\"600\" class=\"ink\"";
    svg.text(SvgScale.EDGE, 32, head, TextWidth.cut(runs.title(), (int) (width / 12)));
    for (int i = 0; i < lines.size(); i++) {
      String line = TextWidth.cut(lines.get(i), (int) (width / 6.5));
      svg.text(SvgScale.EDGE, 54 + 20 * i, SOFT, line);
    }
    if (runs.areSeveral()) {
      table(svg, RunTable.of(runs), 60 + 20 * lines.size());
    }
    legend.draw(svg, SvgScale.EDGE, legendTop + 4);
    for (Shown run : runs.all()) {
      new SvgRun(svg, run, scale, runs).draw(top);
      top += SvgRun.height(run, scale);
    }
    return svg.end();
  }

  private static List<String> lines(Runs runs) {
    List<String> lines = new ArrayList<>();
    if (!runs.times().isEmpty()) {
      lines.add(runs.subject() + (runs.numberStages() ? "; numbers are " + runs.numbers() : ""));
    }
    if (!runs.areSeveral()) {
      lines.addAll(runs.lines());
    }
    return lines;
  }

  private static void table(Svg svg, Table table, double top) {
    for (int column = 0; column < table.columns().size(); column++) {
      String heading = table.columns().get(column).heading();
      int cut = heading.indexOf('\n');
      if (cut >= 0) {
        cell(svg, table, column, top, heading.substring(0, cut), "soft");
      }
      cell(svg, table, column, top + 15, heading.substring(cut + 1), "soft");
    }
    double y = top + 35;
    for (List<Cell> row : table.rows()) {
      for (int column = 0; column < row.size(); column++) {
        cell(svg, table, column, y, row.get(column).text(), "ink");
      }
      y += 20;
    }
  }

  private static void cell(
      Svg svg, Table table, int column, double y, String words, String colour) {
    boolean right = table.columns().get(column).right();
    double x = right ? 106 + COLUMN * column : SvgScale.EDGE;
    String anchor = right ? " text-anchor=\"end\"" : "";
    svg.text(x, y, "font-size=\"12\" class=\"" + colour + '"' + anchor, words);
  }
}

package dev.pipewright.app.report.page;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.units.Units;
import java.util.List;

/** The parts of the page that need no script: figures and tables as plain elements. */
public final class HtmlSections {
  private HtmlSections() {}

  public static String figures(List<Figure> figures) {
    StringBuilder out = new StringBuilder("<dl class=\"figures\">\n");
    for (Figure figure : figures) {
      out.append("<div class=\"figure\"><dt>");
      Markup.append(out, figure.label());
      out.append("</dt><dd><b>");
      Markup.append(out, figure.value());
      out.append("</b><span>");
      Markup.append(out, Words.glue(figure.note()));
      out.append("</span></dd></div>\n");
    }
    return out.append("</dl>\n").toString();
  }

  /** Figures as a list of names and values. */
  public static String facts(List<Figure> figures) {
    StringBuilder out = new StringBuilder("<dl class=\"facts\">\n");
    for (Figure figure : figures) {
      out.append("<dt>");
      Markup.append(out, figure.label());
      out.append("</dt><dd>");
      Markup.append(out, Words.glue(figure.value()));
      out.append("</dd>\n");
    }
    return out.append("</dl>\n").toString();
  }

  public static String section(String id, String heading, String content) {
    return "<section aria-labelledby=\"%1$s\">\n<h2 id=\"%1$s\">%2$s</h2>\n%3$s</section>\n"
        .formatted(id, Markup.of(heading), content);
  }

  public static String table(Table table, String caption) {
    StringBuilder out = new StringBuilder("<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    out.append(" aria-label=\"").append(caption).append("\"><table>\n<thead><tr>");
    for (Column column : table.columns()) {
      out.append(column.right() ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">");
      Markup.append(out, column.inOneLine());
      out.append("</th>");
    }
    out.append("</tr></thead>\n<tbody>\n");
    for (List<Cell> row : table.rows()) {
      out.append("<tr>");
      for (int i = 0; i < row.size(); i++) {
        cell(out, row.get(i), table.columns().get(i));
      }
      out.append("</tr>\n");
    }
    return out.append("</tbody></table></div>\n").toString();
  }

  private static void cell(StringBuilder out, Cell cell, Column column) {
    out.append(column.right() ? "<td class=\"number\"" : "<td").append(" data-label=\"");
    Markup.append(out, column.inOneLine());
    out.append("\">");
    if (cell.hasBar()) {
      out.append("<span class=\"level")
          .append(cell.bar() > 1 ? " over" : "")
          .append("\"><i style=\"width:");
      Units.appendFixed(out, 100 * Math.max(0, Math.min(1, cell.bar())), 1);
      out.append("%\"></i></span>");
    }
    Markup.append(out, cell.text());
    out.append("</td>");
  }
}

package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Schedules as one page for the browser that loads nothing from anywhere and needs no script.
 *
 * <p>The page is the resource {@code schedule.html}, whose placeholders {@code {{name}}} are
 * replaced.
 */
public final class ScheduleHtml {
  private ScheduleHtml() {}

  /** The whole document for schedules of the same work. */
  public static String of(List<ScheduleRun> runs) {
    String subject = "Op times: " + runs.get(0).times() + ".";
    return of(
        runs,
        ScheduleRun.title(runs),
        Markup.of(subject),
        figures(runs),
        ScheduleScale.of(runs, 0, 2));
  }

  /**
   * The same under another title, with other figures.
   *
   * @param subject as markup
   */
  static String of(
      List<ScheduleRun> runs, String title, String subject, String figures, ScheduleScale scale) {
    return HtmlReport.fill(
        HtmlReport.resource("schedule.html"), values(runs, title, subject, figures, scale));
  }

  private static Map<String, String> values(
      List<ScheduleRun> runs, String title, String subject, String figures, ScheduleScale scale) {
    ScheduleLegend legend = new ScheduleLegend(runs);
    String style = HtmlReport.resource("report.css") + HtmlReport.resource("schedule.css");
    return Map.of(
        "title", Markup.of(title),
        "subject", subject,
        "style", style + legend.style(),
        "figures", figures,
        "hint", Markup.of(hint(runs, scale)),
        "legend", legend.list(),
        "picture", picture(runs, scale),
        "peaks", peaks(runs));
  }

  private static String figures(List<ScheduleRun> runs) {
    if (runs.size() > 1) {
      return "<section aria-labelledby=\"figures\">\n<h2 id=\"figures\">Figures</h2>\n"
          + HtmlSections.table(ScheduleTable.of(runs), "figures")
          + "<p class=\"hint\">"
          + Markup.of(ScheduleTable.note(runs))
          + ".</p>\n</section>\n";
    }
    ScheduleRun run = runs.get(0);
    String cap = run.isCapped() ? "; the cap is " + run.cap() : "";
    StringBuilder out = new StringBuilder("<dl class=\"figures\">\n");
    List<Figure> figures =
        new ArrayList<>(
            List.of(
                new Figure(
                    "makespan", ScheduleText.number(run.makespan()), "until the last op has ended"),
                new Figure(
                    "idle",
                    Units.percent(run.figures().idleShare()),
                    "of the makespan, all ranks' mean"),
                new Figure(
                    "peak activations",
                    ScheduleText.activations(run.peak()),
                    "on the fullest rank, of a stage and micro-batch" + cap)));
    String ofSpan = Units.percent(run.figures().spanIdleShare());
    if (!ofSpan.equals(Units.percent(run.figures().idleShare()))) {
      figures.add(
          2, new Figure("idle of span", ofSpan, "of the longest rank's span, its busiest rank"));
    }
    run.figures()
        .period()
        .ifPresent(period -> {
          figures.add(
              new Figure(
                  "period",
                  ScheduleText.number(period.time()),
                  "for %s, once the pipeline is full".formatted(ScheduleRun.microBatches(period))));
          figures.add(
              new Figure(
                  "idle once full",
                  Units.percent(period.idleShare()),
                  "of a period, all ranks' mean"));
        });
    HtmlSections.figures(out, figures);
    return out.append("</dl>\n").toString();
  }

  private static String hint(List<ScheduleRun> runs, ScheduleScale scale) {
    String numbers =
        "Numbers are " + ScheduleRun.numbers(runs) + "; under the pointer, a cell says what it is";
    String exchanges =
        runs.stream().anyMatch(run -> run.drawnPasses().stream().anyMatch(Pass::exchanges))
            ? "; the thin bars are exchanges that overlap computation"
            : "";
    String ranks =
        runs.stream()
            .filter(run -> !run.ranksOfStages().isEmpty())
            .map(run -> "; " + (runs.size() > 1 ? run.name() + ": " : "") + run.ranksOfStages())
            .collect(Collectors.joining());
    String held =
        runs.stream()
            .map(run -> ScheduleDrawing.held(run, scale))
            .distinct()
            .collect(Collectors.joining(" or ", "; activations held are ", ""));
    return numbers
        + exchanges
        + ranks
        + held
        + (runs.size() > 1 ? "; all have the same scale." : ".");
  }

  /** The ranks' names and values stay while the picture moves between them. */
  private static String picture(List<ScheduleRun> runs, ScheduleScale scale) {
    double height = ScheduleSvg.height(runs, scale);
    Svg names = Svg.inPage(ScheduleScale.names(runs), height, "ranks");
    Svg plot = Svg.inPage(scale.right() + 12, height, ScheduleRun.title(runs));
    Svg values = Svg.inPage(ScheduleScale.RIGHT, height, "idle shares and peaks");
    ScheduleSvg.draw(runs, scale, new ScheduleDrawing.Sheets(names, plot, values), 0);
    return "<div class=\"names\">"
        + names.end()
        + "</div>"
        + plot.end()
        + "<div class=\"values\">"
        + values.end()
        + "</div>";
  }

  /** A row for each rank. */
  private static String peaks(List<ScheduleRun> runs) {
    int ranks = runs.stream().mapToInt(ScheduleRun::ranks).max().orElse(0);
    List<Column> columns = new ArrayList<>(List.of(Column.number("rank")));
    for (ScheduleRun run : runs) {
      String name = runs.size() > 1 ? run.name() + ": " : "";
      columns.add(Column.number(name + "idle"));
      columns.add(Column.number(name + "peak activations"));
    }
    List<List<Cell>> rows = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      List<Cell> row = new ArrayList<>(List.of(Cell.of(Integer.toString(rank))));
      for (ScheduleRun run : runs) {
        boolean there = rank < run.ranks();
        row.add(Cell.of(there ? Units.percent(run.idleShare(rank)) : "–"));
        row.add(Cell.of(there ? ScheduleText.activations(run.peaks()[rank]) : "–"));
      }
      rows.add(row);
    }
    return "<section aria-labelledby=\"ranks\">\n<h2 id=\"ranks\">Ranks</h2>\n"
        + HtmlSections.table(new Table(columns, rows), "ranks")
        + "</section>\n";
  }
}

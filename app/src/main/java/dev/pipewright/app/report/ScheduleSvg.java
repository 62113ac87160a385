package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.stream.Stream;

/**
 * Schedules as the picture that papers draw, several below each other on the same scale of time,
 * with the figures that compare them.
 */
public final class ScheduleSvg {
  /** Ops of the largest picture. */
  public static final int MOST_OPS = 60_000;

  private static final double EDGE = 12;
  private static final double NARROWEST = 760; // figures
  private static final double BETWEEN = 20;
  private static final double COLUMN = 94;
  private static final String SOFT = "font-size=\"12\" class=\"soft\"";

  private ScheduleSvg() {}

  /** The picture of one schedule. */
  public static String of(ScheduleRun run) {
    return of(List.of(run));
  }

  /** The picture of schedules of the same work, of at most {@link #MOST_OPS} ops in all. */
  public static String of(List<ScheduleRun> runs) {
    ScheduleScale scale = ScheduleScale.of(runs, EDGE, EDGE + ScheduleScale.names(runs));
    ScheduleLegend legend = new ScheduleLegend(runs);
    double width = Math.max(NARROWEST, scale.width());
    List<String> lines = lines(runs.get(0));
    double figures = runs.size() > 1 ? 48 + runs.size() * 20 : 20 * lines.size();
    double legendTop = 64 + figures;
    double top = legendTop + legend.height(width - 2 * EDGE) + 12;
    String title = ScheduleRun.title(runs);
    Svg svg = Svg.styled(width, top + height(runs, scale), "schedule " + title, legend.style());
    String head = "font-size=\"18\" font-weight=\"600\" class=\"ink\"";
    svg.text(EDGE, 32, head, TextWidth.cut(title, (int) (width / 12)));
    boolean stages = runs.stream().anyMatch(ScheduleRun::numbersStages);
    String numbers = stages ? "; numbers are " + ScheduleRun.numbers(runs) : "";
    String times = TextWidth.cut("op times: " + runs.get(0).times() + numbers, (int) (width / 6.5));
    svg.text(EDGE, 54, SOFT, times);
    if (runs.size() == 1) {
      for (int i = 0; i < lines.size(); i++) {
        svg.text(EDGE, 74 + 20 * i, SOFT, TextWidth.cut(lines.get(i), (int) (width / 6.5)));
      }
    } else {
      table(svg, ScheduleTable.of(runs), 80);
    }
    legend.draw(svg, EDGE, legendTop, width - 2 * EDGE);
    draw(runs, scale, ScheduleDrawing.Sheets.one(svg), top);
    return svg.end();
  }

  /** What is said of one schedule above its picture. */
  private static List<String> lines(ScheduleRun run) {
    return Stream.of(figures(run), run.period(), run.ranksOfStages())
        .filter(line -> !line.isEmpty())
        .toList();
  }

  /** The figures of one schedule in a line. */
  private static String figures(ScheduleRun run) {
    return "makespan %s; idle %s of it, %s of the longest rank's span; peak activations %s"
        .formatted(
            ScheduleText.number(run.makespan()),
            Units.percent(run.figures().idleShare()),
            Units.percent(run.figures().spanIdleShare()),
            ScheduleText.activations(run.peak()));
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
    double x = right ? 106 + COLUMN * column : EDGE;
    String anchor = right ? " text-anchor=\"end\"" : "";
    svg.text(x, y, "font-size=\"12\" class=\"" + colour + '"' + anchor, words);
  }

  /** What all schedules take below each other. */
  static double height(List<ScheduleRun> runs, ScheduleScale scale) {
    double height = 0;
    for (ScheduleRun run : runs) {
      height += ScheduleDrawing.height(run, scale) + BETWEEN;
    }
    return height;
  }

  /** Draws all schedules below each other; see {@link ScheduleDrawing}. */
  static void draw(
      List<ScheduleRun> runs, ScheduleScale scale, ScheduleDrawing.Sheets sheets, double first) {
    double top = first;
    for (ScheduleRun run : runs) {
      new ScheduleDrawing(run, scale, sheets).draw(top, runs.size() == 1 ? "" : run.name());
      top += ScheduleDrawing.height(run, scale) + BETWEEN;
    }
  }
}

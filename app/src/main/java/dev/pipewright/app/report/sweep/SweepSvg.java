package dev.pipewright.app.report.sweep;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.Labels;
import dev.pipewright.app.report.chart.LogAxis;
import dev.pipewright.app.report.chart.LogChart;
import dev.pipewright.app.report.chart.StackDrawing;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.sweep.SweepLine.Mark;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.formats.sweep.SweepFigures;
import dev.pipewright.formats.sweep.SweepKey;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import dev.pipewright.units.Units;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;

/** Charts of a sweep over the devices of its clusters, both axes logarithmic. */
public final class SweepSvg {
  private static final double WIDTH = 860;
  private static final double MARGIN = 24;
  private static final double LEFT = 84;
  private static final double PLOT = 400;
  private static final double BELOW = 54;
  private static final int LONGEST = 34; // letters of a line's name
  private static final int MOST_NAMED = 24; // more names than rows
  private static final double RADIUS = 4;

  /** Classes of colour; lines beyond them take them in turn with other marks. */
  private static final String[] COLOURS = {
    "data", "layers", "positions", "heads", "filters", "channels", "sequences", "serial"
  };

  private final List<SweepLine> lines;
  private final LogChart chart;
  private final double right;

  private SweepSvg(List<SweepLine> lines, double top) {
    this.lines = lines;
    this.right = WIDTH - MARGIN - names(lines);
    List<Double> values =
        lines.stream().flatMap(line -> line.points().stream()).map(Mark::value).toList();
    chart =
        new LogChart(
            LogAxis.around(devices(lines), 2, LEFT, right),
            LogAxis.around(values, 4, top + PLOT, top));
  }

  /** Seconds of a step: {@code subject} is the sweep's file. */
  public static String steps(
      List<SweepPoint> points, Map<SweepKey, SweepResult> results, String subject) {
    List<SweepLine> lines =
        SweepLine.of(
            points,
            results,
            SweepFigures::stepSeconds,
            found -> Units.seconds(found.stepSeconds()) + " per step");
    return of(lines, subject, "Seconds of a step", "seconds of a step", LogChart::seconds);
  }

  /** Tokens, or where some samples are no sequences samples, per second and device. */
  public static String rates(
      List<SweepPoint> points, Map<SweepKey, SweepResult> results, String subject) {
    boolean tokens =
        results.values().stream()
            .flatMap(result -> result.figures().stream())
            .allMatch(found -> found.tokensPerSecond().isPresent());
    String unit = tokens ? "tokens" : "samples";
    List<SweepLine> lines =
        SweepLine.of(
            points,
            results,
            found -> rate(found, tokens),
            found -> Numbers.rate(rate(found, tokens)) + " " + unit + "/s per device");
    String title = (tokens ? "Tokens" : "Samples") + " per second and device";
    return of(lines, subject, title, unit + " per second and device", LogChart::count);
  }

  private static double rate(SweepFigures found, boolean tokens) {
    return (tokens ? found.tokensPerSecond() : found.samplesPerSecond()).orElse(Double.NaN)
        / found.clusterDevices();
  }

  private static String of(
      List<SweepLine> lines, String subject, String title, String up, DoubleFunction<String> mark) {
    String hint =
        lines.isEmpty()
            ? "No point has a plan with times."
            : "Over the devices of the cluster, both logarithmic; a line joins clusters of a kind.";
    ChartHead head = new ChartHead(subject, title, hint, WIDTH - 2 * MARGIN);
    double top = head.height() + 26;
    Svg svg = Svg.styled(WIDTH, top + PLOT + BELOW, title + ": " + subject, ChartHead.style());
    head.draw(svg, MARGIN);
    if (!lines.isEmpty()) {
      new SweepSvg(lines, top).draw(svg, up, mark);
    }
    return svg.end();
  }

  private static List<Double> devices(List<SweepLine> lines) {
    return lines.stream()
        .flatMap(line -> line.points().stream())
        .map(point -> (double) point.devices())
        .distinct()
        .sorted()
        .toList();
  }

  /** Pixels to the right of the plot. */
  private static double names(List<SweepLine> lines) {
    return 30 + lines.stream().mapToDouble(line -> width(line)).max().orElse(0);
  }

  private static double width(SweepLine line) {
    return StackDrawing.width(shown(line), 12);
  }

  private static String shown(SweepLine line) {
    return TextWidth.cut(line.name(), LONGEST);
  }

  private void draw(Svg svg, String up, DoubleFunction<String> mark) {
    chart.background(svg);
    List<Double> counts = devices(lines);
    List<String> words = counts.stream().map(count -> "" + Math.round(count)).toList();
    chart.across(svg, counts, words, "devices");
    List<Double> marks = chart.y().decimalMarks(9);
    chart.up(svg, marks, marks.stream().map(mark::apply).toList(), up);
    for (int i = 0; i < lines.size(); i++) {
      svg.open("class=\"" + COLOURS[i % COLOURS.length] + '"');
      line(svg, lines.get(i), i / COLOURS.length);
      svg.close();
    }
    names(svg);
  }

  private void line(Svg svg, SweepLine line, int round) {
    for (int i = 1; i < line.points().size(); i++) {
      Mark from = line.points().get(i - 1);
      Mark to = line.points().get(i);
      svg.line(x(from), y(from), x(to), y(to), "stroke=\"currentColor\" stroke-width=\"2\"");
    }
    for (Mark point : line.points()) {
      mark(svg, round, x(point), y(point), point.tip());
    }
  }

  private double x(Mark point) {
    return chart.x().at(point.devices());
  }

  private double y(Mark point) {
    return chart.y().at(point.value());
  }

  /** A disc; a square or a hollow disc in further rounds of the colours. */
  private static void mark(Svg svg, int round, double x, double y, String tip) {
    String shape = round % 2 == 0 ? " rx=\"" + RADIUS + '"' : "";
    String paint =
        round < 2
            ? "fill=\"currentColor\""
            : "class=\"hollow\" stroke=\"currentColor\" stroke-width=\"1.6\"";
    svg.rect(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS, paint + shape, tip);
  }

  /** Names at the right, in the order of the last points; of the first lines where many. */
  private void names(Svg svg) {
    List<Integer> order =
        IntStream.range(0, Math.min(MOST_NAMED, lines.size()))
            .boxed()
            .sorted(Comparator.comparingDouble(i -> y(lines.get(i).last())))
            .toList();
    double[] rows =
        Labels.spread(
            order.stream().mapToDouble(i -> y(lines.get(i).last())).toArray(),
            chart.y().to() + 4,
            chart.y().from() - 2);
    for (int row = 0; row < rows.length; row++) {
      int i = order.get(row);
      SweepLine line = lines.get(i);
      svg.line(
          x(line.last()) + 6,
          y(line.last()),
          right + 6,
          rows[row],
          "class=\"axis\" stroke-opacity=\"0.6\"");
      svg.open("class=\"" + COLOURS[i % COLOURS.length] + '"');
      mark(svg, i / COLOURS.length, right + 12, rows[row], line.name());
      svg.close();
      svg.text(right + 22, rows[row] + 4, "font-size=\"12\" class=\"ink\"", shown(line));
    }
  }
}

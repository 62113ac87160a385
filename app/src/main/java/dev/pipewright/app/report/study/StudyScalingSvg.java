package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.Labels;
import dev.pipewright.app.report.chart.Labels.Box;
import dev.pipewright.app.report.chart.Labels.Wish;
import dev.pipewright.app.report.chart.LogAxis;
import dev.pipewright.app.report.chart.LogChart;
import dev.pipewright.app.report.chart.StackDrawing;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Samples per second over devices, both logarithmic: a line for each strategy, and the ideal. */
public final class StudyScalingSvg {
  private static final String TITLE = "Samples per second";
  private static final String HINT =
      "Over the number of devices, both logarithmic; hollow points do not fit into memory.";
  private static final double LEFT = 52;
  private static final double BOTTOM = 42;

  private final Study study;
  private final List<Line> lines = new ArrayList<>();
  private final LogChart chart;
  private final double right;
  private final Labels labels;

  /** A strategy's predictions, fewest devices first. */
  private record Line(Strategy strategy, List<Predicted> points) {
    Predicted last() {
      return points.getLast();
    }
  }

  private StudyScalingSvg(Study study, double left, double width, double top, double height) {
    this.study = study;
    for (Strategy strategy : study.strategies()) {
      List<Predicted> points =
          StudyStacks.predicted(study).stream()
              .filter(p -> p.strategy() == strategy)
              .sorted(Comparator.comparingInt(Predicted::devices))
              .toList();
      if (!points.isEmpty()) {
        lines.add(new Line(strategy, points));
      }
    }
    List<Double> rates =
        StudyStacks.predicted(study).stream().map(Predicted::samplesPerSecond).toList();
    right = width - column() - 17;
    chart =
        new LogChart(
            LogAxis.around(counts(), 2, left + LEFT, right),
            LogAxis.around(rates, 4, height - BOTTOM, top + 24));
    labels = new Labels(new Box(left + LEFT + 4, top + 26, right - 4, height - BOTTOM - 2));
  }

  /**
   * The picture as an SVG document.
   *
   * @param subject what was asked: {@code vgg-16 on abci}
   */
  public static String of(Study study, String subject) {
    double width = 860;
    ChartHead head = new ChartHead(subject, TITLE, HINT, width - 32);
    double height = head.height() + 480;
    Svg svg = Svg.styled(width, height, TITLE + ": " + subject, ChartHead.style());
    head.draw(svg, 16);
    new StudyScalingSvg(study, 12, width - 16, head.height() + 8, height - 8).draw(svg);
    return svg.end();
  }

  /** The picture as a part of a page. */
  static String inPage(Study study, double width, double height) {
    Svg svg = Svg.inPage(width, height, TITLE);
    new StudyScalingSvg(study, 0, width, 0, height).draw(svg);
    return svg.end();
  }

  private List<Double> counts() {
    return study.devices().stream().map(Integer::doubleValue).toList();
  }

  /** Pixels for the labels of lines that end at the right. */
  private double column() {
    double widest = StackDrawing.width("ideal", 12);
    for (Line line : lines) {
      if (endsRight(line)) {
        widest = Math.max(widest, StackDrawing.width(line.strategy().label(), 12));
      }
    }
    return widest + 26;
  }

  private boolean endsRight(Line line) {
    return line.last().devices() == StudyWords.mostDevices(study);
  }

  private void draw(Svg svg) {
    chart.background(svg);
    List<String> words = study.devices().stream().map(String::valueOf).toList();
    chart.across(svg, counts(), words, "devices");
    List<Double> marks = chart.y().decimalMarks(8);
    chart.up(svg, marks, marks.stream().map(LogChart::count).toList(), "samples per second");
    List<Flag> flags = new ArrayList<>();
    ideal(svg, flags);
    lines.forEach(line -> line(svg, line));
    lines.forEach(line -> points(svg, line));
    names(svg);
    lines.stream().filter(this::endsRight).forEach(line -> flags.add(flag(line)));
    flags(svg, flags);
  }

  private double x(Predicted predicted) {
    return chart.x().at(predicted.devices());
  }

  private double y(Predicted predicted) {
    return chart.y().at(predicted.samplesPerSecond());
  }

  /** From the best on the fewest devices upwards, each device adding as much as one of those. */
  private void ideal(Svg svg, List<Flag> flags) {
    if (lines.isEmpty()) {
      return;
    }
    int fewest = lines.stream().mapToInt(l -> l.points().getFirst().devices()).min().orElse(1);
    double best =
        lines.stream()
            .map(l -> l.points().getFirst())
            .filter(p -> p.devices() == fewest)
            .mapToDouble(Predicted::samplesPerSecond)
            .max()
            .orElse(1);
    double most = Math.min(StudyWords.mostDevices(study), chart.y().most() / best * fewest);
    if (most <= fewest) {
      return;
    }
    double endX = chart.x().at(most);
    double endY = chart.y().at(best * most / fewest);
    svg.line(
        chart.x().at(fewest),
        chart.y().at(best),
        endX,
        endY,
        "class=\"axis\" stroke-width=\"1.5\" stroke-dasharray=\"2 4\"");
    labels.avoidLine(chart.x().at(fewest), chart.y().at(best), endX, endY);
    flags.add(new Flag(Optional.empty(), "ideal", endX, endY));
  }

  private void line(Svg svg, Line line) {
    svg.open("class=\"" + StudyMark.style(line.strategy()) + '"');
    for (int i = 1; i < line.points().size(); i++) {
      Predicted from = line.points().get(i - 1);
      Predicted to = line.points().get(i);
      String faint = from.fits() && to.fits() ? "" : " stroke-opacity=\"0.45\"";
      svg.line(
          x(from), y(from), x(to), y(to), "stroke=\"currentColor\" stroke-width=\"2\"" + faint);
      labels.avoidLine(x(from), y(from), x(to), y(to));
    }
    svg.close();
  }

  private void points(Svg svg, Line line) {
    svg.open("class=\"" + StudyMark.style(line.strategy()) + '"');
    for (Predicted point : line.points()) {
      StudyMark.draw(svg, point.strategy(), x(point), y(point), point.fits());
      svg.rect(
          x(point) - 8,
          y(point) - 8,
          16,
          16,
          "fill=\"none\" pointer-events=\"all\"",
          StudyStacks.place(point)
              + ": "
              + Numbers.rate(point.samplesPerSecond())
              + " samples/s, "
              + Units.seconds(point.iterationSeconds())
              + " per iteration"
              + (point.fits() ? "" : "; does not fit"));
      labels.avoidPoint(x(point), y(point));
    }
    svg.close();
  }

  /** Names beside the last points of the lines that end early. */
  private void names(Svg svg) {
    List<Predicted> ends = lines.stream().filter(line -> !endsRight(line)).map(Line::last).toList();
    List<Wish> wishes = ends.stream().map(end -> PointLabel.wish(end, x(end), y(end))).toList();
    PointLabel.draw(svg, ends, wishes, labels);
  }

  /** Words at the right of the plot, for a line that ends there. */
  private record Flag(Optional<Predicted> point, String words, double x, double y) {}

  private Flag flag(Line line) {
    Predicted last = line.last();
    return new Flag(Optional.of(last), line.strategy().label(), x(last), y(last));
  }

  private void flags(Svg svg, List<Flag> flags) {
    List<Flag> sorted = flags.stream().sorted(Comparator.comparingDouble(Flag::y)).toList();
    double[] rows =
        Labels.spread(
            sorted.stream().mapToDouble(Flag::y).toArray(),
            chart.y().to() + 4,
            chart.y().from() - 2);
    for (int i = 0; i < rows.length; i++) {
      Flag flag = sorted.get(i);
      double row = rows[i];
      double from = Math.max(flag.x() + 6, chart.x().at(StudyWords.mostDevices(study)) + 6);
      svg.line(from, flag.y(), right + 8, row, "class=\"axis\" stroke-opacity=\"0.7\"");
      svg.text(right + 24, row + 4, "font-size=\"12\" class=\"ink\"", flag.words());
      flag.point().ifPresent(point -> mark(svg, point, right + 15, row));
    }
  }

  private static void mark(Svg svg, Predicted point, double x, double y) {
    svg.open("class=\"" + StudyMark.style(point.strategy()) + '"');
    StudyMark.draw(svg, point.strategy(), x, y, point.fits());
    svg.close();
  }
}

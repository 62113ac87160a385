package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.Labels;
import dev.pipewright.app.report.chart.Labels.Box;
import dev.pipewright.app.report.chart.Labels.Wish;
import dev.pipewright.app.report.chart.LogAxis;
import dev.pipewright.app.report.chart.LogChart;
import dev.pipewright.app.report.chart.StackDrawing;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Time per sample against memory per device on one number of devices, both logarithmic. A line
 * joins what no other strategy beats in both.
 */
public final class StudyParetoSvg {
  private static final double LEFT = 62;
  private static final double BOTTOM = 42;
  private static final double FAR = 4; // times a device's memory
  private static final double RIM = 16; // half a label of the axis

  private final List<Predicted> points;
  private static final double MARK = 8; // from the middle of a point's mark to its edge

  private final List<Predicted> beyond;
  private final LogChart chart;
  private final Labels labels;

  private StudyParetoSvg(
      Study study, int devices, double left, double width, double top, double height) {
    List<Predicted> all =
        StudyStacks.predicted(study).stream().filter(p -> p.devices() == devices).toList();
    beyond = all.stream().filter(StudyParetoSvg::isFarBeyond).toList();
    points =
        all.stream()
            .filter(p -> beyond.size() == all.size() || !isFarBeyond(p))
            .sorted(
                Comparator.comparingDouble(StudyParetoSvg::bytes)
                    .thenComparingDouble(StudyParetoSvg::seconds))
            .toList();
    List<Double> sizes = new ArrayList<>(points.stream().map(StudyParetoSvg::bytes).toList());
    points.stream().map(Predicted::capacity).filter(Figure::isLimited).forEach(sizes::add);
    chart =
        new LogChart(
            LogAxis.around(sizes, 4, left + LEFT, width - RIM),
            LogAxis.around(
                points.stream().map(StudyParetoSvg::seconds).toList(),
                4,
                height - BOTTOM,
                top + 24));
    Box area = chart.area();
    labels =
        new Labels(new Box(area.left() + 4, area.top() + 4, area.right() - 4, area.bottom() - 4));
  }

  /**
   * The picture, on the most devices on which anything can run, as an SVG document.
   *
   * @param subject what was asked: {@code vgg-16 on abci}
   */
  public static String of(Study study, String subject) {
    return of(study, subject, devices(study));
  }

  /** The same on {@code devices}. */
  public static String of(Study study, String subject, int devices) {
    double width = 860;
    ChartHead head =
        new ChartHead(
            subject,
            title(devices),
            "Both logarithmic, down and left is better; no strategy beats those on the line in both.",
            width - 32);
    double height = head.height() + 480;
    Svg svg = Svg.styled(width, height, title(devices) + ": " + subject, ChartHead.style());
    head.draw(svg, 16);
    new StudyParetoSvg(study, devices, 12, width - 16, head.height() + 8, height - 8).draw(svg);
    return svg.end();
  }

  /** The picture as a part of a page. */
  static String inPage(Study study, double width, double height) {
    int devices = devices(study);
    Svg svg = Svg.inPage(width, height, title(devices));
    new StudyParetoSvg(study, devices, 0, width, 0, height).draw(svg);
    return svg.end();
  }

  static String title(int devices) {
    return "Time against memory on " + Words.count(devices, "device");
  }

  /** The most devices on which anything can run. */
  static int devices(Study study) {
    return StudyStacks.predicted(study).stream()
        .mapToInt(Predicted::devices)
        .max()
        .orElse(StudyWords.mostDevices(study));
  }

  /** Whether the others would be pressed together if this were to be in the picture, too. */
  private static boolean isFarBeyond(Predicted predicted) {
    return Figure.isLimited(predicted.capacity()) && bytes(predicted) > FAR * predicted.capacity();
  }

  private static double bytes(Predicted predicted) {
    return predicted.memory().total();
  }

  private static double seconds(Predicted predicted) {
    return 1 / predicted.samplesPerSecond();
  }

  private double x(Predicted predicted) {
    return chart.x().at(bytes(predicted));
  }

  private double y(Predicted predicted) {
    return chart.y().at(seconds(predicted));
  }

  private void draw(Svg svg) {
    chart.background(svg);
    List<Double> sizes = chart.x().binaryMarks(chart.x().to() > 500 ? 9 : 5);
    chart.across(svg, sizes, sizes.stream().map(LogChart::bytes).toList(), "memory of a device");
    List<Double> times = chart.y().decimalMarks(8);
    chart.up(svg, times, times.stream().map(LogChart::seconds).toList(), "time per sample");
    capacity(svg);
    front(svg);
    beyond(svg);
    points.forEach(point -> labels.avoidPoint(x(point), y(point)));
    List<Predicted> front = front(points);
    points.forEach(point -> point(svg, point, front.contains(point)));
    List<Wish> wishes = points.stream().map(p -> PointLabel.wish(p, x(p), y(p))).toList();
    PointLabel.draw(svg, points, wishes, labels);
  }

  /** 0 where memory is not limited. */
  private double mostCapacity() {
    return points.stream()
        .mapToDouble(Predicted::capacity)
        .filter(Figure::isLimited)
        .max()
        .orElse(0);
  }

  private void capacity(Svg svg) {
    double capacity = mostCapacity();
    if (capacity == 0) {
      return;
    }
    double at = chart.x().at(capacity);
    Box area = chart.area();
    svg.rect(at, area.top(), area.right() - at, area.bottom() - area.top(), "class=\"over\"");
    svg.line(at, area.top(), at, area.bottom(), "class=\"limit\" stroke-width=\"1.5\"");
    String words = "device memory " + Numbers.bytes(capacity);
    double width = StackDrawing.width(words, 11);
    boolean before = at - width > area.left() + 60; // behind the name of the vertical axis
    if (before || at + width < area.right()) {
      String anchor = before ? "end" : "start";
      String style = "font-size=\"11\" class=\"soft\" text-anchor=\"" + anchor + '"';
      svg.text(at, area.top() - 8, style, words);
    }
    labels.avoidLine(at, area.top(), at, area.bottom());
  }

  /** Names what is not in the picture, in the corner where it covers fewest points. */
  private void beyond(Svg svg) {
    if (beyond.isEmpty() || points.contains(beyond.getFirst())) {
      return;
    }
    String names =
        beyond.stream()
            .map(p -> p.strategy() + " " + Numbers.times(bytes(p) / p.capacity()))
            .collect(Collectors.joining(", "));
    Box area = chart.area();
    double width = area.right() - area.left();
    String words = TextWidth.cut("beyond: " + names, (int) (width / 8));
    double wide = StackDrawing.width(words, 11);
    double limit = chart.x().at(mostCapacity()); // which is there, or nothing would be beyond
    double right = area.right() - limit > wide + 12 ? area.right() - 6 : limit - 6;
    Corner corner =
        Stream.of(
                new Corner(right, area.top() + 16),
                new Corner(right, area.bottom() - 8),
                new Corner(area.left() + 6 + wide, area.top() + 16),
                new Corner(area.left() + 6 + wide, area.bottom() - 8))
            .filter(each -> each.right - wide >= area.left())
            .min(Comparator.comparingLong(each -> covered(each, wide)))
            .orElseThrow();
    svg.text(corner.right, corner.y, "font-size=\"11\" text-anchor=\"end\" class=\"above\"", words);
    for (double height = corner.y - 10; height <= corner.y + 2; height += 4) {
      labels.avoidLine(corner.right - wide, height, corner.right, height);
    }
  }

  /** Where words may end. */
  private record Corner(double right, double y) {}

  private long covered(Corner corner, double wide) {
    return points.stream()
        .filter(point -> x(point) > corner.right - wide - MARK && x(point) < corner.right + MARK)
        .filter(point -> y(point) > corner.y - 11 - MARK && y(point) < corner.y + MARK)
        .count();
  }

  /** What nothing beats in both, least memory first; {@code points} are in that order. */
  static List<Predicted> front(List<Predicted> points) {
    List<Predicted> front = new ArrayList<>();
    double least = Double.POSITIVE_INFINITY;
    for (Predicted point : points) {
      if (seconds(point) < least) {
        least = seconds(point);
        front.add(point);
      }
    }
    return front;
  }

  /** Steps: between two points of the front the one with less memory is the best there is. */
  private void front(Svg svg) {
    List<Predicted> front = front(points);
    for (int i = 1; i < front.size(); i++) {
      Predicted from = front.get(i - 1);
      Predicted to = front.get(i);
      step(svg, x(from), y(from), x(to), y(from));
      step(svg, x(to), y(from), x(to), y(to));
    }
  }

  private void step(Svg svg, double x1, double y1, double x2, double y2) {
    svg.line(x1, y1, x2, y2, "class=\"axis\" stroke-width=\"2\"");
    labels.avoidLine(x1, y1, x2, y2);
  }

  private void point(Svg svg, Predicted point, boolean best) {
    String faint = best ? "" : " opacity=\"0.6\"";
    svg.open("class=\"" + StudyMark.style(point.strategy()) + '"' + faint);
    StudyMark.draw(svg, point.strategy(), x(point), y(point), point.fits());
    svg.rect(
        x(point) - 8,
        y(point) - 8,
        16,
        16,
        "fill=\"none\" pointer-events=\"all\"",
        StudyStacks.place(point)
            + ": "
            + Units.seconds(seconds(point))
            + " per sample, "
            + Numbers.bytes(bytes(point))
            + (point.fits() ? "" : ", does not fit"));
    svg.close();
  }
}

package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.text.Numbers;
import java.util.List;
import java.util.stream.Stream;

/**
 * Seconds of a step against bytes of a device, both logarithmic: points that no other of their
 * series excels in both, joined by steps.
 */
public final class FrontSvg {
  private static final double WIDTH = 860;
  private static final double MARGIN = 24;
  private static final double LEFT = 84;
  private static final double PLOT = 380;
  private static final double BELOW = 54;
  private static final double RADIUS = 3.5;
  private static final double SAMPLE = 12;
  private static final double GIB = 1 << 30;
  private static final int MOST_MARKS = 9;
  private static final String[] COLOURS = {"data", "channels", "layers", "filters", "heads"};

  /**
   * A point.
   *
   * @param bytes of the fullest device
   * @param tip what a reader sees who points at it
   */
  public record Point(double seconds, double bytes, String tip) {}

  /**
   * Points of one colour.
   *
   * @param name in the legend
   * @param points the fastest, which needs most memory, first
   */
  public record Series(String name, List<Point> points) {
    public Series {
      points = List.copyOf(points);
    }
  }

  private FrontSvg() {}

  /**
   * The picture as an SVG document.
   *
   * @param hint below the title
   * @param subject what was searched
   */
  public static String of(String title, String hint, String subject, List<Series> series) {
    ChartHead head = new ChartHead(subject, title, hint, WIDTH - 2 * MARGIN);
    SvgLegend legend = new SvgLegend(WIDTH - 2 * MARGIN);
    for (int i = 0; i < series.size(); i++) {
      String colour = colour(i);
      legend.add((drawn, x, y) -> sample(drawn, colour, x, y), series.get(i).name());
    }
    double top = head.height() + legend.height() + 34;
    Svg svg = Svg.styled(WIDTH, top + PLOT + BELOW, title + ": " + subject, ChartHead.style());
    head.draw(svg, MARGIN);
    legend.draw(svg, MARGIN, head.height() + 6);
    LogChart chart = chart(series, top);
    chart.background(svg);
    List<Double> sizes = sizes(chart.x());
    chart.across(svg, sizes, sizes.stream().map(LogChart::bytes).toList(), "memory of a device");
    List<Double> times = chart.y().decimalMarks(MOST_MARKS);
    chart.up(svg, times, times.stream().map(LogChart::seconds).toList(), "seconds of a step");
    for (int i = 0; i < series.size(); i++) {
      svg.open("class=\"" + colour(i) + "\"");
      front(svg, chart, series.get(i).points());
      svg.close();
    }
    return svg.end();
  }

  private static void sample(Svg svg, String colour, double x, double y) {
    svg.open("class=\"" + colour + "\"");
    svg.rect(x, y, SAMPLE, SAMPLE, "fill=\"currentColor\" rx=\"2\"");
    svg.close();
  }

  /** Round numbers of GiB. */
  private static List<Double> sizes(LogAxis axis) {
    LogAxis binary = new LogAxis(axis.least() / GIB, axis.most() / GIB, axis.from(), axis.to());
    return binary.decimalMarks(MOST_MARKS).stream().map(mark -> mark * GIB).toList();
  }

  private static String colour(int series) {
    return COLOURS[series % COLOURS.length];
  }

  private static LogChart chart(List<Series> series, double top) {
    List<Double> sizes = all(series).map(Point::bytes).toList();
    List<Double> times = all(series).map(Point::seconds).toList();
    return new LogChart(
        LogAxis.around(sizes, 2, LEFT, WIDTH - MARGIN),
        LogAxis.around(times, 1.5, top + PLOT, top));
  }

  private static Stream<Point> all(List<Series> series) {
    return series.stream().flatMap(each -> each.points().stream());
  }

  private static void front(Svg svg, LogChart chart, List<Point> front) {
    StringBuilder path = new StringBuilder();
    for (int i = 1; i < front.size(); i++) {
      double right = chart.x().at(front.get(i - 1).bytes());
      double left = chart.x().at(front.get(i).bytes());
      double low = chart.y().at(front.get(i - 1).seconds());
      double high = chart.y().at(front.get(i).seconds());
      point(path.append('M'), right, low);
      point(path.append('V'), high);
      point(path.append('H'), left);
    }
    svg.path(path, "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.6\"");
    for (Point each : front) {
      svg.rect(
          chart.x().at(each.bytes()) - RADIUS,
          chart.y().at(each.seconds()) - RADIUS,
          2 * RADIUS,
          2 * RADIUS,
          "fill=\"currentColor\" rx=\"" + RADIUS + '"',
          each.tip());
    }
  }

  private static void point(StringBuilder path, double... numbers) {
    for (double number : numbers) {
      Numbers.appendShort(path, number);
      path.append(' ');
    }
  }
}

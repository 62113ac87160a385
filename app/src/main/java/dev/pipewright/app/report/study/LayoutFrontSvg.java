package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.LogAxis;
import dev.pipewright.app.report.chart.LogChart;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.chart.SvgLegend;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.stream.Stream;

/**
 * Seconds of a step against bytes of a device, both logarithmic: the layouts of a transformer that
 * no other on as many devices excels in both.
 */
public final class LayoutFrontSvg {
  private static final double WIDTH = 860;
  private static final double MARGIN = 24;
  private static final double LEFT = 84;
  private static final double PLOT = 380;
  private static final double BELOW = 54;
  private static final double RADIUS = 3.5;
  private static final double SAMPLE = 12;
  private static final double GIB = 1 << 30;
  private static final String TITLE = "Time against memory of the best layouts";
  private static final String[] COLOURS = {"data", "channels", "layers", "filters", "heads"};

  private LayoutFrontSvg() {}

  /**
   * The picture as an SVG document.
   *
   * @param surveys one for each number of devices
   * @param subject what was searched
   */
  public static String of(List<LayoutSurvey> surveys, String subject) {
    String hint =
        "Both logarithmic, down and left is better; steps join layouts on as many devices.";
    ChartHead head = new ChartHead(subject, TITLE, hint, WIDTH - 2 * MARGIN);
    SvgLegend legend = new SvgLegend(WIDTH - 2 * MARGIN);
    for (int i = 0; i < surveys.size(); i++) {
      String colour = colour(i);
      legend.add(
          (drawn, x, y) -> sample(drawn, colour, x, y),
          Words.count(surveys.get(i).space().devices(), "device"));
    }
    double top = head.height() + legend.height() + 34;
    Svg svg = Svg.styled(WIDTH, top + PLOT + BELOW, TITLE + ": " + subject, ChartHead.style());
    head.draw(svg, MARGIN);
    legend.draw(svg, MARGIN, head.height() + 6);
    LogChart chart = chart(surveys, top);
    chart.background(svg);
    List<Double> sizes = sizes(chart.x());
    chart.across(svg, sizes, sizes.stream().map(LogChart::bytes).toList(), "memory of a device");
    List<Double> times = chart.y().decimalMarks(9);
    chart.up(svg, times, times.stream().map(LogChart::seconds).toList(), "seconds of a step");
    for (int i = 0; i < surveys.size(); i++) {
      svg.open("class=\"" + colour(i) + "\"");
      front(svg, chart, surveys.get(i).front());
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
    return binary.decimalMarks(9).stream().map(mark -> mark * GIB).toList();
  }

  private static String colour(int survey) {
    return COLOURS[survey % COLOURS.length];
  }

  private static LogChart chart(List<LayoutSurvey> surveys, double top) {
    List<Double> sizes = all(surveys).map(RankedLayout::bytes).toList();
    List<Double> times = all(surveys).map(RankedLayout::seconds).toList();
    return new LogChart(
        LogAxis.around(sizes, 2, LEFT, WIDTH - MARGIN),
        LogAxis.around(times, 1.5, top + PLOT, top));
  }

  private static Stream<RankedLayout> all(List<LayoutSurvey> surveys) {
    return surveys.stream().flatMap(survey -> survey.front().stream());
  }

  private static void front(Svg svg, LogChart chart, List<RankedLayout> front) {
    StringBuilder path = new StringBuilder();
    for (int i = 1; i < front.size(); i++) { // the fastest, which needs most, first
      double right = chart.x().at(front.get(i - 1).bytes());
      double left = chart.x().at(front.get(i).bytes());
      double low = chart.y().at(front.get(i - 1).seconds());
      double high = chart.y().at(front.get(i).seconds());
      point(path.append('M'), right, low);
      point(path.append('V'), high);
      point(path.append('H'), left);
    }
    svg.path(path, "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.6\"");
    for (RankedLayout ranked : front) {
      svg.rect(
          chart.x().at(ranked.bytes()) - RADIUS,
          chart.y().at(ranked.seconds()) - RADIUS,
          2 * RADIUS,
          2 * RADIUS,
          "fill=\"currentColor\" rx=\"" + RADIUS + '"',
          tip(ranked));
    }
  }

  private static void point(StringBuilder path, double... numbers) {
    for (double number : numbers) {
      Numbers.appendShort(path, number);
      path.append(' ');
    }
  }

  private static String tip(RankedLayout ranked) {
    return "%s, %s: %s, ZeRO %d, micro-batch %d, recompute %s, %s offloaded"
        .formatted(
            Units.seconds(ranked.seconds()),
            Numbers.bytes(ranked.bytes()),
            ranked.searched().layout().strategy(),
            ranked.searched().layout().zero(),
            ranked.searched().layout().microBatch(),
            ranked.searched().recompute().word(),
            Words.count(ranked.searched().offloadedLayers(), "layer"));
  }
}

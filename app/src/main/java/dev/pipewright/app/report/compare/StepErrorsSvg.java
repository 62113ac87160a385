package dev.pipewright.app.report.compare;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.LogAxis;
import dev.pipewright.app.report.chart.LogChart;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.chart.SvgLegend;
import dev.pipewright.app.report.text.Numbers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Predicted over measured seconds of training steps against the measured seconds, both logarithmic:
 * the residuals of a calibration.
 */
public final class StepErrorsSvg {
  private static final double WIDTH = 860;
  private static final double MARGIN = 24;
  private static final double LEFT = 84;
  private static final double PLOT = 360;
  private static final double BELOW = 54;
  private static final double RADIUS = 4.5;
  private static final String TITLE = "Predicted over measured seconds of a step";
  private static final String[] COLOURS = {"channels", "layers", "data"};

  /**
   * Predictions of one kind.
   *
   * @param residuals ln(predicted / measured) of each step
   */
  public record Series(String name, double[] residuals) {}

  private StepErrorsSvg() {}

  /**
   * The picture as an SVG document.
   *
   * @param subject what was calibrated
   * @param measured seconds of each step
   * @param series at most three, the last one on top
   */
  public static String of(String subject, double[] measured, List<Series> series) {
    String hint = "1 is right; below it, a step took longer than predicted";
    ChartHead head = new ChartHead(subject, TITLE, hint, WIDTH - 2 * MARGIN);
    SvgLegend legend = new SvgLegend(WIDTH - 2 * MARGIN);
    for (int i = 0; i < series.size(); i++) {
      String colour = COLOURS[i % COLOURS.length];
      legend.add(
          (svg, x, y) -> mark(svg, colour, x + RADIUS, y + 2 * RADIUS - 3), series.get(i).name);
    }
    double top = head.height() + legend.height() + 34;
    Svg svg = Svg.styled(WIDTH, top + PLOT + BELOW, TITLE + ": " + subject, ChartHead.style());
    head.draw(svg, MARGIN);
    legend.draw(svg, MARGIN, head.height() + 6);
    LogChart chart = chart(measured, series, top);
    chart.background(svg);
    List<Double> across = chart.x().decimalMarks(9);
    chart.across(svg, across, across.stream().map(LogChart::seconds).toList(), "measured seconds");
    List<Double> up = chart.y().decimalMarks(9);
    chart.up(svg, up, up.stream().map(LogChart::count).toList(), "predicted / measured");
    double right = chart.y().at(1);
    svg.line(chart.x().from(), right, chart.x().to(), right, "class=\"limit\"");
    for (int i = 0; i < series.size(); i++) {
      for (int step = 0; step < measured.length; step++) {
        double ratio = Math.exp(series.get(i).residuals[step]);
        mark(svg, COLOURS[i % COLOURS.length], chart.x().at(measured[step]), chart.y().at(ratio));
      }
    }
    return svg.end();
  }

  private static LogChart chart(double[] measured, List<Series> series, double top) {
    List<Double> ratios = new ArrayList<>(List.of(1.0));
    series.forEach(each -> Arrays.stream(each.residuals).map(Math::exp).forEach(ratios::add));
    return new LogChart(
        LogAxis.around(
            Arrays.stream(measured).boxed().collect(Collectors.toList()), 2, LEFT, WIDTH - MARGIN),
        LogAxis.around(ratios, 1.5, top + PLOT, top));
  }

  private static void mark(Svg svg, String colour, double x, double y) {
    StringBuilder path = new StringBuilder("M");
    Numbers.appendShort(path, x - RADIUS);
    Numbers.appendShort(path.append(' '), y);
    path.append("a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z");
    svg.open("class=\"" + colour + "\"");
    svg.path(path, "fill=\"currentColor\" fill-opacity=\"0.8\"");
    svg.close();
  }
}

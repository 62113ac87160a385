package dev.pipewright.bench.plot;

import dev.pipewright.bench.plot.Axis.Scale;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/** One row for each of many cases, one dot for each series: W. Cleveland's dot plot. */
public final class Dots implements Panel {
  private static final double TOP = 30;
  private static final double BOTTOM = 48;
  private static final double ROW = 22;

  private final String title;
  private final Axis axis;
  private final List<String> rows;
  private final Map<String, double[]> all = new LinkedHashMap<>();
  private double limit = Double.NaN;
  private String limitLabel = "";

  public Dots(String title, Axis axis, List<String> rows) {
    this.title = title;
    this.axis = axis;
    this.rows = List.copyOf(rows);
  }

  /** Adds a series, one value for each row; values that are not finite are left out. */
  public Dots add(String name, double[] values) {
    all.put(name, values.clone());
    return this;
  }

  /** Adds a dashed line from top to bottom. */
  public Dots limit(double value, String label) {
    limit = value;
    limitLabel = label;
    return this;
  }

  @Override
  public String title() {
    return title;
  }

  @Override
  public List<String> series() {
    return new ArrayList<>(all.keySet());
  }

  @Override
  public double height() {
    return TOP + (limitLabel.isEmpty() ? 0 : 16) + ROW * rows.size() + BOTTOM;
  }

  @Override
  public void draw(Svg svg, double left, double top, double width, Function<String, Look> looks) {
    heading(svg, left, top);
    double ceiling = top + TOP + (limitLabel.isEmpty() ? 0 : 16);
    double floor = ceiling + ROW * rows.size();
    double names = rows.stream().mapToDouble(row -> Svg.width(row, 12)).max().orElse(0);
    double start = left + names + 14;
    double end = left + width - 18;
    double[] values =
        DoubleStream.concat(
                all.values().stream().flatMapToDouble(Arrays::stream), DoubleStream.of(limit))
            .toArray();
    Scale scale = axis.over(values, start, end);
    for (double tick : scale.ticks()) {
      double at = scale.at(tick);
      svg.line(at, ceiling, at, floor, "stroke=\"#E3E3E3\"");
      svg.text(at, floor + 18, "font-size=\"12\" text-anchor=\"middle\"", Scale.label(tick));
    }
    svg.line(start, floor, end, floor, "stroke=\"#5A5A5A\"");
    svg.text(
        (start + end) / 2, floor + 37, "font-size=\"12\" text-anchor=\"middle\"", axis.label());
    if (Double.isFinite(limit)) {
      double at = scale.at(limit);
      String anchor = at > (start + end) / 2 ? "end" : "start";
      svg.line(at, ceiling, at, floor, "stroke=\"#5A5A5A\" stroke-dasharray=\"5 4\"");
      svg.text(
          at,
          ceiling - 5,
          "font-size=\"12\" fill=\"#4A4A4A\" text-anchor=\"" + anchor + "\"",
          limitLabel);
    }
    for (int row = 0; row < rows.size(); row++) {
      double y = ceiling + ROW * (row + 0.5);
      svg.line(start, y, end, y, "stroke=\"#F0F0F0\"");
      svg.text(start - 9, y + 4, "font-size=\"12\" text-anchor=\"end\"", rows.get(row));
      double dodge = Math.min(5, 13.0 / all.size()); // so that equal values all show
      double at = y - dodge * (all.size() - 1) / 2;
      for (Map.Entry<String, double[]> series : all.entrySet()) {
        double value = series.getValue()[row];
        if (Double.isFinite(value)) {
          looks.apply(series.getKey()).mark(svg, scale.at(value), at);
        }
        at += dodge;
      }
    }
  }
}

package dev.pipewright.bench.plot;

import dev.pipewright.bench.plot.Axis.Scale;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/** Points joined by lines over two axes. */
public final class Lines implements Panel {
  private static final double TOP = 34;
  private static final double BOTTOM = 52;
  private static final int MARKS = 12; // on a line of many points, which would hide it
  private static final int MANY = 40;
  private static final String GRID = "stroke=\"#E3E3E3\"";
  private static final String FRAME = "stroke=\"#5A5A5A\"";

  private final String title;
  private final Axis x;
  private final Axis y;
  private final double height;
  private final List<Series> all = new ArrayList<>();
  private final List<Limit> limits = new ArrayList<>();

  private record Series(String name, double[] x, double[] y, boolean joined) {}

  private record Limit(double value, String label) {}

  public Lines(String title, Axis x, Axis y, double height) {
    this.title = title;
    this.x = x;
    this.y = y;
    this.height = height;
  }

  /** Adds a series; points that are not finite are left out and interrupt the line. */
  public Lines add(String name, double[] xs, double[] ys) {
    all.add(new Series(name, xs.clone(), ys.clone(), true));
    return this;
  }

  /** Adds points without a line. */
  public Lines points(String name, double[] xs, double[] ys) {
    all.add(new Series(name, xs.clone(), ys.clone(), false));
    return this;
  }

  /** Adds a dashed line across at a value of the upright axis. */
  public Lines limit(double value, String label) {
    limits.add(new Limit(value, label));
    return this;
  }

  @Override
  public String title() {
    return title;
  }

  @Override
  public List<String> series() {
    return all.stream().map(Series::name).toList();
  }

  @Override
  public double height() {
    return height;
  }

  @Override
  public void draw(Svg svg, double left, double top, double width, Function<String, Look> looks) {
    heading(svg, left, top);
    double floor = top + height - BOTTOM;
    double[] heights =
        DoubleStream.concat(
                all.stream().flatMapToDouble(series -> Arrays.stream(series.y)),
                limits.stream().mapToDouble(Limit::value))
            .toArray();
    Scale up = y.over(heights, floor, top + TOP);
    double labels =
        up.ticks().stream().mapToDouble(tick -> Svg.width(Scale.label(tick), 12)).max().orElse(0);
    double start = left + labels + 34;
    double end = left + width - 14;
    double[] widths = all.stream().flatMapToDouble(series -> Arrays.stream(series.x)).toArray();
    Scale across = x.over(widths, start, end);
    axes(svg, across, up, start, end, top + TOP, floor);
    upright(svg, left + 11, (top + TOP + floor) / 2);
    for (Limit limit : limits) {
      double at = up.at(limit.value);
      svg.line(start, at, end, at, "stroke=\"#5A5A5A\" stroke-dasharray=\"5 4\"");
      svg.text(
          end - 4, at - 5, "font-size=\"12\" text-anchor=\"end\" fill=\"#4A4A4A\"", limit.label);
    }
    for (int i = 0; i < all.size(); i++) { // earlier lines are wider, so that equal ones all show
      draw(svg, all.get(i), across, up, looks.apply(all.get(i).name), 1 + all.size() - i);
    }
  }

  private void upright(Svg svg, double at, double middle) {
    String turned = "transform=\"rotate(-90 " + Svg.number(at) + " " + Svg.number(middle) + ")\"";
    svg.text(at, middle, "font-size=\"12\" text-anchor=\"middle\" " + turned, y.label());
  }

  private void axes(
      Svg svg, Scale across, Scale up, double start, double end, double ceiling, double floor) {
    for (double tick : up.ticks()) {
      double at = up.at(tick);
      svg.line(start, at, end, at, GRID);
      svg.text(start - 7, at + 4, "font-size=\"12\" text-anchor=\"end\"", Scale.label(tick));
    }
    for (double tick : across.ticks()) {
      double at = across.at(tick);
      svg.line(at, ceiling, at, floor, GRID);
      svg.line(at, floor, at, floor + 4, FRAME);
      svg.text(at, floor + 18, "font-size=\"12\" text-anchor=\"middle\"", Scale.label(tick));
    }
    svg.line(start, floor, end, floor, FRAME);
    svg.line(start, ceiling, start, floor, FRAME);
    svg.text((start + end) / 2, floor + 37, "font-size=\"12\" text-anchor=\"middle\"", x.label());
  }

  private static void draw(
      Svg svg, Series series, Scale across, Scale up, Look look, int lineWidth) {
    StringBuilder path = new StringBuilder();
    boolean pen = false;
    for (int i = 0; i < series.x.length; i++) {
      boolean there = Double.isFinite(series.y[i]);
      if (there) {
        path.append(pen ? 'L' : 'M').append(Svg.number(across.at(series.x[i])));
        path.append(' ').append(Svg.number(up.at(series.y[i])));
      }
      pen = there;
    }
    if (series.joined && !path.isEmpty()) {
      look.line(svg, path.toString(), lineWidth);
    }
    int apart = series.joined && series.x.length > MANY ? series.x.length / MARKS : 1;
    for (int i = lineWidth % apart; i < series.x.length; i += apart) { // not all at one place
      if (Double.isFinite(series.y[i])) {
        look.mark(svg, across.at(series.x[i]), up.at(series.y[i]));
      }
    }
  }
}

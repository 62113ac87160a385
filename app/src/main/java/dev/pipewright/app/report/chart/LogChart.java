package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * The frame of a picture with two logarithmic axes.
 *
 * @param x to the right
 * @param y upwards
 */
public record LogChart(LogAxis x, LogAxis y) {
  /** Grid lines and words of the horizontal axis. */
  public void across(Svg svg, List<Double> marks, List<String> words, String name) {
    double free = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < marks.size(); i++) {
      double at = x.at(marks.get(i));
      double half = StackDrawing.width(words.get(i), 11) / 2;
      svg.line(at, y.to(), at, y.from(), "class=\"grid\"");
      if (at - half > free && at + half < x.to() + 12) {
        svg.text(
            at,
            y.from() + 16,
            "font-size=\"11\" text-anchor=\"middle\" class=\"soft\"",
            words.get(i));
        free = at + half + 4;
      }
    }
    svg.text(
        (x.from() + x.to()) / 2,
        y.from() + 34,
        "font-size=\"12\" text-anchor=\"middle\" class=\"ink\"",
        name);
  }

  /** Grid lines and words of the vertical axis; its name stands above it. */
  public void up(Svg svg, List<Double> marks, List<String> words, String name) {
    for (int i = 0; i < marks.size(); i++) {
      double at = y.at(marks.get(i));
      svg.line(x.from(), at, x.to(), at, "class=\"grid\"");
      svg.text(
          x.from() - 6,
          at + 4,
          "font-size=\"11\" text-anchor=\"end\" class=\"soft\"",
          words.get(i));
    }
    svg.text(x.from() - 48, y.to() - 8, "font-size=\"12\" class=\"ink\"", name);
  }

  /** The plot's area. */
  public Labels.Box area() {
    return new Labels.Box(x.from(), y.to(), x.to(), y.from());
  }

  public void background(Svg svg) {
    svg.rect(x.from(), y.to(), x.to() - x.from(), y.from() - y.to(), "class=\"plot\"");
  }

  /** {@code 1.5 ms}: a round number of seconds. */
  public static String seconds(double seconds) {
    String unit = Ticks.unit(seconds * 1.000001);
    return round(seconds * Ticks.scale(unit)) + ' ' + unit;
  }

  /** {@code 512 MiB}: a power of two. */
  public static String bytes(double bytes) {
    double size = bytes;
    while (size >= 1024) {
      size /= 1024;
    }
    return round(size) + ' ' + Numbers.byteUnit(bytes);
  }

  /** {@code 2k}: a round number. */
  public static String count(double count) {
    if (count < 1_000) {
      return count < 0.01 ? Units.fixed(count, 6).replaceAll("0+$", "") : round(count);
    }
    return count < 1e6
        ? round(count / 1e3) + 'k'
        : count < 1e9 ? round(count / 1e6) + 'M' : round(count / 1e9) + 'G';
  }

  private static String round(double value) {
    StringBuilder text = new StringBuilder();
    Numbers.appendShort(text, value);
    return text.toString();
  }
}

package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import java.util.ArrayList;
import java.util.List;

/**
 * The axis that all panels of a picture share, from 0 up. Where few bars are much longer than the
 * rest it ends below them, and they are drawn cut.
 *
 * @param top where it ends
 */
public record StackAxis(double top, List<Mark> marks) {
  private static final int MOST_MARKS = 5;
  private static final double OUTLIER = 4; // times the third quartile

  public record Mark(double value, String label) {}

  public StackAxis {
    marks = List.copyOf(marks);
  }

  public static StackAxis seconds(List<Double> totals) {
    double most = mostShown(totals);
    Ticks ticks = Ticks.of(most, MOST_MARKS);
    List<Mark> marks = new ArrayList<>();
    for (int mark = 0; mark < ticks.count(); mark++) {
      marks.add(new Mark(ticks.at(mark), label(ticks, mark, ticks.unit())));
    }
    return new StackAxis(most > 0 ? most : 1, marks);
  }

  /** Bytes up to twice the capacity, so that the line of the capacity is always in sight. */
  public static StackAxis bytes(List<Double> totals, double capacity) {
    boolean limited = Figure.isLimited(capacity);
    double longest = totals.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    double most =
        limited ? Math.max(1.08 * capacity, Math.min(longest, 2 * capacity)) : mostShown(totals);
    String unit = Numbers.byteUnit(most);
    double scale = most >= 1 ? most / inUnit(most) : 1;
    Ticks ticks = Ticks.of(most / scale, MOST_MARKS);
    List<Mark> marks = new ArrayList<>();
    for (int mark = 0; mark < ticks.count(); mark++) {
      marks.add(new Mark(ticks.at(mark) * scale, label(ticks, mark, unit)));
    }
    return new StackAxis(most > 0 ? most : 1, marks);
  }

  private static double inUnit(double bytes) {
    double size = bytes;
    while (size >= 1024) {
      size /= 1024;
    }
    return size;
  }

  private static String label(Ticks ticks, int mark, String unit) {
    return mark == 0 ? "0" : ticks.label(mark) + ' ' + unit;
  }

  private static double mostShown(List<Double> totals) {
    List<Double> sorted = totals.stream().sorted().toList();
    if (sorted.isEmpty()) {
      return 0;
    }
    double longest = sorted.getLast();
    double quartile = sorted.get(sorted.size() * 3 / 4);
    return longest > OUTLIER * quartile && quartile > 0 ? 1.3 * quartile : longest;
  }

  /** The share of the axis at which {@code value} stands, at most 1. */
  public double share(double value) {
    return Math.min(1, value / top);
  }

  boolean cuts(double value) {
    return value > top * 1.000001;
  }
}

package dev.pipewright.app.report.chart;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic axis.
 *
 * @param least the value at pixel {@code from}
 * @param most the value at pixel {@code to}, which may be the smaller pixel
 */
public record LogAxis(double least, double most, double from, double to) {
  private static final double[][] DECIMAL = {
    {1},
    {1, 3},
    {1, 2, 5},
    {1, 1.5, 2, 3, 4, 5, 6, 8},
    {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9}
  };

  /**
   * An axis that shows all of {@code values}, with a rim.
   *
   * @param span the factor that it spans at least
   */
  public static LogAxis around(List<Double> values, double span, double from, double to) {
    double least = values.stream().mapToDouble(Double::doubleValue).min().orElse(1);
    double most = values.stream().mapToDouble(Double::doubleValue).max().orElse(1);
    double missing = Math.max(1, Math.sqrt(span / (most / least)));
    double rim = Math.pow(most / least, 0.05);
    return new LogAxis(least / missing / rim, most * missing * rim, from, to);
  }

  public double at(double value) {
    return most > least
        ? from + Math.log(value / least) / Math.log(most / least) * (to - from)
        : (from + to) / 2;
  }

  /** Round values: powers of ten, or as many between them as it takes for three marks. */
  public List<Double> decimalMarks(int mostMarks) {
    for (double[] digits : DECIMAL) {
      List<Double> marks = decimalMarks(digits);
      if (marks.size() >= 3) {
        return thinned(marks, mostMarks);
      }
    }
    return decimalMarks(DECIMAL[DECIMAL.length - 1]);
  }

  private List<Double> decimalMarks(double[] digits) {
    List<Double> marks = new ArrayList<>();
    for (int power = (int) Math.floor(Math.log10(least)); power <= Math.log10(most); power++) {
      for (double digit : digits) {
        double mark = digit * Math.pow(10, power);
        if (mark >= least && mark <= most) {
          marks.add(mark);
        }
      }
    }
    return marks;
  }

  /** Powers of two, as bytes like them, or halves between them where there are few. */
  public List<Double> binaryMarks(int mostMarks) {
    List<Double> powers = new ArrayList<>();
    List<Double> halves = new ArrayList<>();
    for (int power = Math.getExponent(least); Math.scalb(1.0, power) <= most; power++) {
      for (double digit : new double[] {1, 1.5}) {
        double mark = Math.scalb(digit, power);
        if (mark >= least && mark <= most) {
          halves.add(mark);
          if (digit == 1) {
            powers.add(mark);
          }
        }
      }
    }
    return thinned(powers.size() < 4 ? halves : powers, mostMarks);
  }

  private static List<Double> thinned(List<Double> marks, int most) {
    int step = (marks.size() + most - 1) / most;
    List<Double> thinned = new ArrayList<>();
    for (int i = 0; i < marks.size(); i += Math.max(1, step)) {
      thinned.add(marks.get(i));
    }
    return thinned;
  }
}

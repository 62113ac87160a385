package dev.pipewright.bench.plot;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What an axis measures and how.
 *
 * @param label with its unit
 * @param fixed the values to mark; chosen from the data where there are none
 */
public record Axis(String label, Kind kind, List<Double> fixed) {
  /** Where values lie along an axis. */
  public enum Kind {
    /** Evenly, from zero. */
    FROM_ZERO,
    /** Evenly, from about the smallest value. */
    LINEAR,
    LOGARITHMIC
  }

  public Axis {
    fixed = List.copyOf(fixed);
  }

  public static Axis fromZero(String label) {
    return new Axis(label, Kind.FROM_ZERO, List.of());
  }

  public static Axis linear(String label) {
    return new Axis(label, Kind.LINEAR, List.of());
  }

  public static Axis logarithmic(String label) {
    return new Axis(label, Kind.LOGARITHMIC, List.of());
  }

  /** The same with marks at these values. */
  public Axis marked(double... values) {
    return new Axis(label, kind, Arrays.stream(values).boxed().toList());
  }

  /** The axis laid out over {@code values} between two places in pixels. */
  Scale over(double[] values, double from, double to) {
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (double value : values) {
      if (Double.isFinite(value)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    if (low > high) {
      low = 1;
      high = 2;
    }
    for (double value : fixed) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    return kind == Kind.LOGARITHMIC
        ? logarithmic(low, high, from, to)
        : even(kind == Kind.FROM_ZERO ? Math.min(0, low) : low, high, from, to);
  }

  private Scale even(double low, double high, double from, double to) {
    double span = high > low ? high - low : Math.max(1e-9, Math.abs(high));
    double power = Math.pow(10, Math.floor(Math.log10(span / 5)));
    double wanted = span / 5 / power;
    double step = power * (wanted <= 1 ? 1 : wanted <= 2 ? 2 : wanted <= 5 ? 5 : 10);
    double first = Math.floor(low / step + 1e-9) * step;
    double last = Math.ceil(high / step - 1e-9) * step;
    List<Double> ticks = new ArrayList<>(fixed);
    if (fixed.isEmpty()) {
      for (int i = 0; first + i * step <= last + step / 2; i++) {
        ticks.add(first + i * step);
      }
      return new Scale(first, Math.max(last, first + step), false, from, to, ticks);
    }
    double margin = kind == Kind.FROM_ZERO ? 0 : 0.04 * span;
    return new Scale(low - margin, high + 0.04 * span, false, from, to, ticks);
  }

  private Scale logarithmic(double low, double high, double from, double to) {
    double least = low / 1.15;
    double most = high * 1.15;
    List<Double> ticks = new ArrayList<>(fixed);
    if (fixed.isEmpty()) {
      double decades = Math.log10(most / least);
      double[] leading = decades > 1.6 ? new double[] {1} : new double[] {1, 2, 5};
      for (int power = (int) Math.floor(Math.log10(least)); Math.pow(10, power) <= most; power++) {
        for (double digit : leading) {
          double tick = digit * Math.pow(10, power);
          if (tick >= least && tick <= most) {
            ticks.add(tick);
          }
        }
      }
    }
    return new Scale(least, most, true, from, to, ticks);
  }

  /** An axis on the picture. */
  record Scale(double low, double high, boolean log, double from, double to, List<Double> ticks) {
    double at(double value) {
      double share =
          log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return from + share * (to - from);
    }

    static String label(double tick) {
      double size = Math.abs(tick);
      if (size >= 1e6 || (size > 0 && size < 1e-3)) {
        int power = (int) Math.floor(Math.log10(size) + 1e-9);
        long digit = Math.round(tick / Math.pow(10, power));
        return (digit == 1 ? "" : digit + "·") + "10" + superscript(power);
      }
      String text = String.format(Locale.ROOT, "%.4f", tick);
      return text.replaceFirst("\\.?0+$", "");
    }

    private static String superscript(int power) {
      StringBuilder text = new StringBuilder();
      for (char digit : Integer.toString(power).toCharArray()) {
        text.append(digit == '-' ? '⁻' : "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(digit - '0'));
      }
      return text.toString();
    }
  }
}

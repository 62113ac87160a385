package dev.pipewright.units;

import java.util.Locale;

/** Numbers for people: three significant digits and a prefix. Files and JSON hold plain values. */
public final class Units {
  private static final String[] BINARY = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  private static final String[] DECIMAL = {"", "k", "M", "G", "T", "P", "E", "Z"};

  private Units() {}

  /** {@code 1536, "B"} becomes {@code 1.50 KiB}. */
  public static String binary(double value, String unit) {
    return scaled(value, 1024, BINARY, unit);
  }

  /** {@code 15.7e12, "FLOP/s"} becomes {@code 15.7 TFLOP/s}. */
  public static String decimal(double value, String unit) {
    return scaled(value, 1000, DECIMAL, unit);
  }

  /** {@code 0.0213} becomes {@code 21.3 ms}. */
  public static String seconds(double value) {
    double size = Math.abs(value);
    if (size == 0) {
      return "0 s";
    }
    if (size >= 1) {
      return digits(value) + " s";
    }
    if (size >= 1e-3) {
      return digits(value * 1e3) + " ms";
    }
    return size >= 1e-6 ? digits(value * 1e6) + " µs" : digits(value * 1e9) + " ns";
  }

  /** {@code 0.0931} becomes {@code 9.3 %}. */
  public static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private static String scaled(double value, double step, String[] prefixes, String unit) {
    int power = 0;
    double size = value;
    while (Math.abs(size) >= step && power < prefixes.length - 1) {
      size /= step;
      power++;
    }
    return digits(size) + " " + prefixes[power] + unit;
  }

  /** Three significant digits without an exponent. */
  private static String digits(double value) {
    double size = Math.abs(value);
    if (size >= 100 || (size == Math.rint(size) && size >= 10)) {
      return String.format(Locale.ROOT, "%.0f", value);
    }
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
  }
}

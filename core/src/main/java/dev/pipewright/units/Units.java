package dev.pipewright.units;

import java.math.BigDecimal;

/**
 * Numbers for people: three significant digits and a prefix. Files and JSON hold plain values.
 *
 * <p>Written without {@link java.util.Formatter}, whose first use costs more than everything else
 * that a terminal report does.
 */
public final class Units {
  private static final String[] BINARY = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  private static final String[] DECIMAL = {"", "k", "M", "G", "T", "P", "E", "Z"};
  private static final long[] POWERS = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000};
  private static final double MOST = 9e15; // beyond it a double has no decimals anyway

  private Units() {}

  /** {@code 1536, "B"} becomes {@code 1.50 KiB}. */
  public static String binary(double value, String unit) {
    if (Math.abs(value) < 1024 && value == Math.rint(value)) {
      return fixed(value, 0) + " " + unit;
    }
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
      return significant(value) + " s";
    }
    if (size >= 1e-3) {
      return significant(value * 1e3) + " ms";
    }
    return size >= 1e-6 ? significant(value * 1e6) + " µs" : significant(value * 1e9) + " ns";
  }

  /** {@code 0.0931} becomes {@code 9.3 %}, and what is a share of nothing becomes a dash. */
  public static String percent(double share) {
    return Double.isFinite(share) ? fixed(100 * share, 1) + " %" : "–";
  }

  /** {@code 13.72} becomes {@code 13.7}: three significant digits without an exponent. */
  public static String significant(double value) {
    double size = Math.abs(value);
    if (size >= 100 || (size == Math.rint(size) && size >= 10)) {
      return fixed(value, 0);
    }
    return fixed(value, size >= 10 ? 1 : 2);
  }

  /** All digits without an exponent where few are zeros: {@code 0.0003}, not {@code 3.0E-4}. */
  public static String plain(double value) {
    double size = Math.abs(value);
    return size == 0 || (size >= 1e-9 && size < 1e9)
        ? new BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString()
        : Double.toString(value);
  }

  /** {@code value} with {@code decimals} digits after the point, at most six. */
  public static String fixed(double value, int decimals) {
    StringBuilder text = new StringBuilder();
    appendFixed(text, value, decimals);
    return text.toString();
  }

  /** Appends {@code value} with {@code decimals} digits after the point, at most six. */
  public static void appendFixed(StringBuilder text, double value, int decimals) {
    long power = POWERS[decimals];
    double size = Math.abs(value);
    if (!(size * power < MOST)) {
      text.append(value);
      return;
    }
    long scaled = Math.round(size * power);
    if (value < 0 && scaled > 0) {
      text.append('-');
    }
    text.append(scaled / power);
    if (decimals > 0) {
      text.append('.');
      long rest = scaled % power;
      for (long digit = power / 10; digit > 0; digit /= 10) {
        text.append((char) ('0' + rest / digit % 10));
      }
    }
  }

  private static String scaled(double value, double step, String[] prefixes, String unit) {
    int power = 0;
    double size = value;
    while (Math.abs(size) >= step && power < prefixes.length - 1) {
      size /= step;
      power++;
    }
    return significant(size) + " " + prefixes[power] + unit;
  }
}

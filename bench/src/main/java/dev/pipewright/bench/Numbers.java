package dev.pipewright.bench;

import java.util.Locale;

/** Numbers for tables. */
final class Numbers {
  private Numbers() {}

  /** With a number of decimals; – where there is no number. */
  static String fixed(double value, int decimals) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + decimals + "f", value) : "–";
  }

  /** {@code +3.4 %}: how much more {@code value} is than {@code than}. */
  static String more(double value, double than) {
    return String.format(Locale.ROOT, "%+.1f %%", 100 * (value / than - 1));
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  static String milliseconds(double seconds) {
    return Double.isFinite(seconds) ? significant(seconds * 1e3) : "–";
  }

  /** Down to a microsecond. */
  static String seconds(double seconds) {
    return Math.abs(seconds) < 0.1 ? fixed(seconds, seconds < 0.001 ? 6 : 5) : significant(seconds);
  }

  /** Three digits that count. */
  static String significant(double value) {
    double size = Math.abs(value);
    int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return fixed(value, decimals);
  }
}

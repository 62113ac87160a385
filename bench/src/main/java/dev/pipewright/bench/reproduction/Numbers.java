package dev.pipewright.bench.reproduction;

import java.util.Locale;

/** Numbers for tables. */
public final class Numbers {
  private Numbers() {}

  /** With a number of decimals; – where there is no number. */
  public static String fixed(double value, int decimals) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + decimals + "f", value) : "–";
  }

  /** {@code +3.4 %}: how much more {@code value} is than {@code than}. */
  public static String more(double value, double than) {
    return String.format(Locale.ROOT, "%+.1f %%", 100 * (value / than - 1));
  }

  public static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  public static String milliseconds(double seconds) {
    return Double.isFinite(seconds) ? significant(seconds * 1e3) : "–";
  }

  /** Down to a microsecond. */
  public static String seconds(double seconds) {
    return Math.abs(seconds) < 0.1 ? fixed(seconds, seconds < 0.001 ? 6 : 5) : significant(seconds);
  }

  /** Three digits that count. */
  public static String significant(double value) {
    double size = Math.abs(value);
    int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return fixed(value, decimals);
  }
}

package dev.pipewright.units;

/** Whole numbers near one that does not fit, in words for messages. */
public final class NearCounts {
  private NearCounts() {}

  /** {@code 6 or 8}: the divisors of {@code whole} next to {@code wanted}, both positive. */
  public static String divisors(int whole, int wanted) {
    int below = Math.min(wanted, whole);
    while (whole % below != 0) {
      below--;
    }
    int above = Math.min(wanted, whole);
    while (whole % above != 0) {
      above++;
    }
    return either(below, above);
  }

  /** {@code 96 or 112}: the multiples of {@code unit} next to {@code wanted}, both positive. */
  public static String multiples(long unit, long wanted) {
    long below = wanted / unit * unit;
    long above = (wanted + unit - 1) / unit * unit;
    return either(below, above);
  }

  private static String either(long below, long above) {
    return below == above || below == 0 ? Long.toString(above) : below + " or " + above;
  }
}

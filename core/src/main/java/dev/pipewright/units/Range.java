package dev.pipewright.units;

/**
 * What a quantity in a file or flag may be: 0 where that makes sense, or a number from {@link
 * #least} to {@link #most}. Beyond its range a number is a slip rather than a layer, device or
 * link; within the ranges, sums, products and quotients over the largest runs stay finite.
 */
public enum Range {
  /** Of a pass of a layer, an update, a latency: up to 30 years. */
  SECONDS("seconds", 1e-18, 1e9),
  /** What each byte of a message costs. */
  SECONDS_PER_BYTE("seconds per byte", 1e-30, 1e3),
  /** Of a layer or a device: up to a petabyte. Bytes for one sample may be fractions. */
  BYTES("bytes", 1e-9, 1e15),
  BYTES_PER_SECOND("bytes per second", 1e-3, 1e18),
  /** Arithmetic of a layer for one sample. */
  FLOP("FLOP", 1e-9, 1e24),
  FLOP_PER_SECOND("FLOP/s", 1, 1e24),
  /** Numbers of a tensor, or trained by a layer. */
  ELEMENTS("elements", 1, 1e15),
  /** Samples of a step or a profile's batch: more cannot be simulated. */
  SAMPLES("samples", 1, 1 << 20),
  /** How many times as much. */
  FACTOR("", 1e-9, 1e9),
  /** A cost in units of its own. */
  COST("", 1e-18, 1e24),
  /** A figure of an answer, which is compared and never calculated with. */
  FIGURE("", 1e-30, 1e30);

  private final String unit;
  private final double least;
  private final double most;

  Range(String unit, double least, double most) {
    this.unit = unit;
    this.least = least;
    this.most = most;
  }

  /** The smallest value above 0. */
  public double least() {
    return least;
  }

  public double most() {
    return most;
  }

  /** Whether {@code value} is 0 or in the range; NaN is not. */
  public boolean holds(double value) {
    return value == 0 || positive(value);
  }

  /** Whether {@code value} is in the range. */
  public boolean positive(double value) {
    return least <= value && value <= most;
  }

  /** {@code 1e-18 to 1e9 seconds}. */
  @Override
  public String toString() {
    return plain(least) + " to " + plain(most) + (unit.isEmpty() ? "" : " " + unit);
  }

  private static String plain(double value) {
    return value == Math.rint(value) && value < 1e7
        ? Long.toString((long) value)
        : Double.toString(value).replace(".0E", "e").replace("E", "e");
  }
}

package dev.pipewright.units;

import java.util.Locale;

/** Argument checks: a caller's mistake is an exception whose message names each value. */
public final class Check {
  private Check() {}

  /** Throws {@link IllegalArgumentException} with the formatted message unless {@code holds}. */
  public static void that(boolean holds, String message, Object... values) {
    if (!holds) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, message, values));
    }
  }

  /** {@code value} itself when it is finite and not negative; otherwise an exception naming it. */
  public static double amount(double value, String name) {
    that(
        value >= 0 && value < Double.POSITIVE_INFINITY,
        "%s must be finite and >= 0: %s",
        name,
        value);
    return value;
  }

  /** {@code value} itself when it is finite and positive; otherwise an exception naming it. */
  public static double positive(double value, String name) {
    that(
        value > 0 && value < Double.POSITIVE_INFINITY,
        "%s must be finite and > 0: %s",
        name,
        value);
    return value;
  }
}

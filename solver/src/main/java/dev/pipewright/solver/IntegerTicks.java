package dev.pipewright.solver;

import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Amounts as whole multiples of their largest common divisor, the tick: CP-SAT counts in integers.
 * Each amount is taken for the simplest fraction that it is the rounded value of, so 0.1 and 1.0/3
 * are what they mean. Amounts without a common divisor of a sensible size are refused.
 */
final class IntegerTicks {
  private static final long MOST = 1L << 40; // of the sum of all amounts
  private static final double ROUNDED = 1e-15; // of an amount

  private final long numerator; // of the tick
  private final long denominator;

  private IntegerTicks(long numerator, long denominator) {
    this.numerator = numerator;
    this.denominator = denominator;
  }

  /** The tick of these amounts. */
  static IntegerTicks of(double... amounts) {
    long denominator = 1;
    for (double amount : amounts) {
      long own = fraction(amount)[1];
      denominator = denominator / gcd(denominator, own) * own;
      Check.that(0 < denominator && denominator <= MOST, refusal(amounts));
    }
    long divisor = 0;
    double sum = 0;
    for (double amount : amounts) {
      sum += amount;
      Check.that(amount <= 0x1p62 / denominator, refusal(amounts));
      divisor = gcd(divisor, times(fraction(amount), denominator));
    }
    long numerator = Math.max(1, divisor);
    Check.that(sum * denominator / numerator <= MOST, refusal(amounts));
    return new IntegerTicks(numerator, denominator);
  }

  private static String refusal(double... amounts) {
    String shown =
        Arrays.toString(Arrays.stream(amounts).filter(x -> x > 0).distinct().limit(8).toArray());
    return ("an exact search needs amounts that are multiples of one tick, at most 2^40 of them in "
            + "all; round them, for example to whole microseconds or bytes: amounts="
            + shown)
        .replace("%", "%%");
  }

  private static long times(long[] fraction, long denominator) {
    return Math.multiplyExact(fraction[0], denominator / fraction[1]);
  }

  /** The simplest fraction that rounds to the amount, by continued fractions. */
  private static long[] fraction(double amount) {
    long before = 0;
    long belowBefore = 1;
    long last = 1;
    long belowLast = 0;
    double rest = amount;
    while (true) {
      Check.that(rest < 0x1p62, "amounts must be below 2^62: amount=%s", amount);
      long whole = (long) rest;
      long next = whole * last + before;
      long belowNext = whole * belowLast + belowBefore;
      if (Math.abs(amount - (double) next / belowNext) <= ROUNDED * amount) {
        return new long[] {next, belowNext};
      }
      before = last;
      belowBefore = belowLast;
      last = next;
      belowLast = belowNext;
      rest = 1 / (rest - whole);
    }
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** An amount, or a sum of amounts, in ticks. */
  long count(double amount) {
    return Math.round(amount * denominator / numerator);
  }

  /** As many ticks as an amount holds. */
  long within(double amount) {
    double count = amount * denominator / numerator;
    return (long) Math.floor(Math.min(count * (1 + ROUNDED) + 1e-9, MOST));
  }

  long[] counts(double... amounts) {
    return Arrays.stream(amounts).mapToLong(this::count).toArray();
  }

  /** That many ticks as an amount. */
  double amount(long count) {
    return (double) count * numerator / denominator;
  }
}

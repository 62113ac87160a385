package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;

/** Sums and products of whole numbers that throw {@link ArithmeticException} on overflow. */
final class Counts {
  /** More than any width, number of heads, experts or layers that can be meant. */
  private static final int MOST = 1 << 24;

  private Counts() {}

  static long product(long first, long... others) {
    long product = first;
    for (long factor : others) {
      product = Math.multiplyExact(product, factor);
    }
    return product;
  }

  static long sum(long first, long... others) {
    long sum = first;
    for (long term : others) {
      sum = Math.addExact(sum, term);
    }
    return sum;
  }

  /** {@code value} where {@code counted}, else 0. */
  static long where(boolean counted, long value) {
    return counted ? value : 0;
  }

  /** Throws {@link IllegalArgumentException} naming the quantity unless it is from 1 to 2²⁴. */
  static void size(String name, int value) {
    Check.that(
        value >= 1 && value <= MOST, "%s=%d is out of range; write 1 to %d", name, value, MOST);
  }
}

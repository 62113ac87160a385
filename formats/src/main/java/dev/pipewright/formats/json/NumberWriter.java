package dev.pipewright.formats.json;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;

/**
 * Text with many numbers, through a buffer to a {@link Writer}: the same characters as those of
 * {@link StringBuilder#append}, mostly without an object for a number.
 *
 * <p>A double between 0.001 and ten millions that is a decimal fraction of at most 15 digits is
 * written digit by digit. No two such fractions are the same double, so it is the shortest that
 * reading turns back into it, which is the one that {@link Double#toString(double)} takes.
 */
public final class NumberWriter {
  private static final int LONGEST = 32; // characters of a number
  private static final double LEAST = 1e-3; // from here to the most, no exponent
  private static final double MOST = 1e7;
  private static final int DECIMALS = 6; // beyond them it is mostly rounding that is left

  private final Writer out;
  private final char[] buffer = new char[1 << 16];
  private int size;
  private long last = Double.doubleToRawLongBits(Double.NaN); // the next double is often the same
  private int lastFrom; // its place in the buffer
  private int lastTo;

  public NumberWriter(Writer out) {
    this.out = out;
  }

  public NumberWriter add(String text) {
    if (text.length() > buffer.length - size) {
      flush();
    }
    text.getChars(0, text.length(), buffer, size);
    size += text.length();
    return this;
  }

  public NumberWriter add(int number) {
    if (number < 0) {
      return add(Integer.toString(number));
    }
    reserve();
    digits(number);
    return this;
  }

  public NumberWriter add(double number) {
    reserve();
    long bits = Double.doubleToRawLongBits(number);
    int from = size;
    if (bits == last && lastTo > 0) {
      size += lastTo - lastFrom;
      System.arraycopy(buffer, lastFrom, buffer, from, size - from);
    } else if (!decimal(number)) {
      add(Double.toString(number));
    }
    last = bits;
    lastFrom = from;
    lastTo = size;
    return this;
  }

  /** Writes a decimal fraction; false where it is none that can be written so. */
  private boolean decimal(double number) {
    if (!(number >= LEAST && number < MOST)) {
      return false;
    }
    int power = 1;
    for (int decimals = 0; decimals <= DECIMALS; decimals++) {
      long scaled = (long) (number * power + 0.5);
      if ((double) scaled / power == number) {
        int whole = (int) number;
        digits(whole);
        buffer[size++] = '.';
        digits((int) (scaled - (long) whole * power), Math.max(1, decimals));
        return true;
      }
      power *= 10;
    }
    return false;
  }

  private void digits(int number) {
    int count = 1;
    for (int power = 10; count < 10 && power <= number; power *= 10) {
      count++;
    }
    digits(number, count);
  }

  private void digits(int number, int count) {
    size += count;
    int left = number;
    for (int at = size - 1; at >= size - count; at--) {
      int tenth = left / 10;
      buffer[at] = (char) ('0' + left - 10 * tenth);
      left = tenth;
    }
  }

  private void reserve() {
    if (buffer.length - size < LONGEST) {
      flush();
    }
  }

  /** Hands on what is in the buffer. */
  public void flush() {
    try {
      out.write(buffer, 0, size);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write", e);
    }
    size = 0;
    lastTo = 0;
  }
}

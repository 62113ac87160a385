package dev.pipewright.app.report;

/**
 * Numbers for people, worded as {@link dev.pipewright.units.Units} does: three significant digits
 * and a prefix. Written without {@link java.util.Formatter}, whose first use costs more than
 * everything else that the terminal report does, and which is slow for an SVG's coordinates.
 */
final class Numbers {
  private static final long[] POWERS = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000};
  private static final String[] BINARY = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  private static final double MOST = 9e15; // beyond it a double has no decimals anyway

  private Numbers() {}

  /** {@code 0.0213} becomes {@code 21.3 ms}. */
  static String seconds(double value) {
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

  /** {@code 1536} becomes {@code 1.50 KiB}. */
  static String bytes(double value) {
    int power = prefix(value);
    return digits(value / Math.pow(1024, power)) + " " + BINARY[power] + "B";
  }

  /** The unit in which {@code value} bytes are 1 to 1023: {@code GiB}. */
  static String byteUnit(double value) {
    return BINARY[prefix(value)] + "B";
  }

  /** {@code 11.2}: {@code value} bytes in the unit that {@code whole} bytes have. */
  static String bytesIn(double value, double whole) {
    return fixed(value / Math.pow(1024, prefix(whole)), 1);
  }

  /** {@code 12345} becomes {@code 12,345}. */
  static String grouped(long count) {
    StringBuilder text = new StringBuilder().append(count);
    for (int at = text.length() - 3; at > (count < 0 ? 1 : 0); at -= 3) {
      text.insert(at, ',');
    }
    return text.toString();
  }

  /** {@code 0.0931} becomes {@code 9.3 %}. */
  static String percent(double share) {
    return fixed(100 * share, 1) + " %";
  }

  /** {@code 0.0931} becomes {@code +9.3 %}. */
  static String change(double share) {
    String words = percent(share);
    return words.charAt(0) == '-' ? "−" + words.substring(1) : "+" + words;
  }

  /** {@code 13.72} becomes {@code 13.7×}. */
  static String times(double factor) {
    return digits(factor) + "×";
  }

  static String fixed(double value, int decimals) {
    StringBuilder text = new StringBuilder();
    append(text, value, decimals);
    return text.toString();
  }

  /** Appends {@code value} with {@code decimals} digits after the point, at most six. */
  static void append(StringBuilder text, double value, int decimals) {
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

  /** Appends {@code value} rounded to hundredths without trailing zeros, as files like it. */
  static void appendShort(StringBuilder text, double value) {
    long scaled = Math.round(value * 100);
    if (scaled < 0) {
      text.append('-');
      scaled = -scaled;
    }
    text.append(scaled / 100);
    if (scaled % 100 != 0) {
      text.append('.').append((char) ('0' + scaled % 100 / 10));
      if (scaled % 10 != 0) {
        text.append((char) ('0' + scaled % 10));
      }
    }
  }

  private static int prefix(double value) {
    int power = 0;
    for (double size = Math.abs(value); size >= 1024 && power < BINARY.length - 1; size /= 1024) {
      power++;
    }
    return power;
  }

  private static String digits(double value) {
    double size = Math.abs(value);
    if (size >= 100 || (size == Math.rint(size) && size >= 10)) {
      return fixed(value, 0);
    }
    return fixed(value, size >= 10 ? 1 : 2);
  }
}

package dev.pipewright.app.report.text;

import dev.pipewright.units.Units;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Wordings of {@link Units} that only reports use. */
public final class Numbers {
  private static final String[] BINARY = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

  private Numbers() {}

  /** Whole numbers as they are, others with up to six digits after the point. */
  public static String plain(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      return Long.toString((long) value);
    }
    String text = Math.abs(value) < 1e-3 ? Double.toString(value) : Units.fixed(value, 6);
    return text.contains("E") ? text : text.replaceAll("0+$", "").replaceAll("\\.$", "");
  }

  /** {@code 1536} becomes {@code 1.50 KiB}. */
  public static String bytes(double value) {
    return Units.binary(value, "B");
  }

  /** The unit in which {@code value} bytes are 1 to 1023: {@code GiB}. */
  public static String byteUnit(double value) {
    return BINARY[prefix(value)] + "B";
  }

  /**
   * {@code 11.2}: {@code value} bytes in the unit that {@code whole} bytes have, with two decimals
   * where these are less than 10 of it; {@code <0.1} is not nothing.
   */
  public static String bytesIn(double value, double whole) {
    double unit = Math.pow(1024, prefix(whole));
    int decimals = whole < 10 * unit ? 2 : 1;
    String text = Units.fixed(value / unit, decimals);
    boolean lost = value > 0 && Double.parseDouble(text) == 0;
    return lost ? (decimals == 2 ? "<0.01" : "<0.1") : text;
  }

  /** {@code 12345} becomes {@code 12,345}. */
  public static String grouped(long count) {
    StringBuilder text = new StringBuilder().append(count);
    for (int at = text.length() - 3; at > (count < 0 ? 1 : 0); at -= 3) {
      text.insert(at, ',');
    }
    return text.toString();
  }

  /** {@code 1234.5} becomes {@code 1,234.50}, and {@code 0.0012345} becomes {@code 0.00123}. */
  public static String price(double value) {
    return Math.abs(value) >= 1
        ? String.format(Locale.ROOT, "%,.2f", value)
        : Units.plain(new BigDecimal(value).round(new MathContext(3)).doubleValue());
  }

  /** {@code 0.0931} becomes {@code +9.3 %}. */
  public static String change(double share) {
    String words = Units.percent(share);
    if (!Double.isFinite(share)) {
      return words;
    }
    return words.charAt(0) == '-' ? "−" + words.substring(1) : "+" + words;
  }

  /** {@code 13.72} becomes {@code 13.7×}, and what is a multiple of nothing becomes a dash. */
  public static String times(double factor) {
    return Double.isFinite(factor) ? Units.significant(factor) + "×" : "–";
  }

  /** Samples per second: {@code 12,345}, {@code 3.21} or {@code 0.0042}. */
  public static String rate(double perSecond) {
    if (perSecond >= 1_000) {
      return grouped(Math.round(perSecond));
    }
    if (perSecond >= 0.1 || !(perSecond > 0)) {
      return Units.significant(perSecond);
    }
    int decimals = 1 - (int) Math.floor(Math.log10(perSecond));
    return Units.fixed(perSecond, Math.min(6, decimals));
  }

  /** Appends {@code value} rounded to hundredths without trailing zeros, as files like it. */
  public static void appendShort(StringBuilder text, double value) {
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
}

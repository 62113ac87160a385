package dev.pipewright.formats.file;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.Range;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads amounts as users write them. */
public final class Amounts {
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?");

  /** A number and a prefix. */
  private static final Pattern AMOUNT =
      Pattern.compile(
          "(\\d+\\.?\\d*(?:e[+]?\\d+)?)\\s*((?:[kmgt]i?)?)b?", Pattern.CASE_INSENSITIVE);

  private Amounts() {}

  /**
   * A number in decimal digits, blanks around it; NaN for what is none, infinite beyond doubles.
   */
  public static double decimal(String text) {
    String stripped = text.strip();
    return DECIMAL.matcher(stripped).matches() ? Double.parseDouble(stripped) + 0.0 : Double.NaN;
  }

  /** A share from 0 to below 1, as {@code 0.1} or {@code 10%}. */
  public static double share(String option, String text) {
    String number = text.strip();
    boolean percent = number.endsWith("%");
    double value = decimal(percent ? number.substring(0, number.length() - 1) : number);
    double share = percent ? value / 100 : value;
    if (share >= 0 && share < 1) {
      return share;
    }
    throw new BadInputException(
        option + ": '" + text + "' is no share below 1; give one like 0.06 or 6%");
  }

  /** Reads {@code 16e9}, {@code 32GiB}, {@code 40 GB}, {@code 40g}. */
  public static Bytes bytes(String text) {
    Matcher amount = AMOUNT.matcher(text.strip());
    if (amount.matches()) {
      String prefix = amount.group(2).toLowerCase(Locale.ROOT);
      double base = prefix.endsWith("i") ? 1024 : 1000;
      int power = prefix.isEmpty() ? 0 : "kmgt".indexOf(prefix.charAt(0)) + 1;
      double value = Double.parseDouble(amount.group(1)) * Math.pow(base, power);
      if (value >= 1 && value <= Range.BYTES.most()) {
        return Bytes.of(value);
      }
    }
    throw new BadInputException(
        "--memory: '" + text + "' is no amount of memory; write bytes up to 1e15, or like 16GiB");
  }
}

package dev.pipewright.app.cli;

import dev.pipewright.formats.file.BadInputException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.TypeConversionException;

/** Reads the values of options and says what is wrong with one. */
final class OptionValues {
  private static final Pattern FILE_NAME =
      Pattern.compile(
          ".+\\.(json|ya?ml|toml|txt|csv|tsv|net|net_sc|plat|gz|log|out|pyt?|onnx|safetensors|svg)",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern WHOLE = Pattern.compile("[-+]?[0-9]+");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?");

  private OptionValues() {}

  /** Makes a command line read numbers and paths as we do. */
  static void register(CommandLine line) {
    line.registerConverter(Integer.class, OptionValues::whole);
    line.registerConverter(int.class, OptionValues::whole);
    line.registerConverter(Long.class, OptionValues::longWhole);
    line.registerConverter(long.class, OptionValues::longWhole);
    line.registerConverter(Double.class, OptionValues::finite);
    line.registerConverter(double.class, OptionValues::finite);
    line.registerConverter(Path.class, OptionValues::path);
  }

  private static int whole(String text) {
    try {
      return Math.toIntExact(longWhole(text));
    } catch (ArithmeticException e) {
      throw new TypeConversionException(text);
    }
  }

  private static long longWhole(String text) {
    try {
      if (WHOLE.matcher(text).matches()) { // not the digits of other scripts
        return Long.parseLong(text);
      }
    } catch (NumberFormatException e) {
      // said by complaint(), as for what is no number
    }
    throw new TypeConversionException(text);
  }

  private static double finite(String text) {
    double value = decimal(text);
    if (!Double.isFinite(value)) {
      throw new TypeConversionException(text);
    }
    return value;
  }

  /**
   * A number in decimal digits, blanks around it; NaN for what is none, infinite beyond doubles.
   */
  static double decimal(String text) {
    String stripped = text.strip();
    return DECIMAL.matcher(stripped).matches() ? Double.parseDouble(stripped) + 0.0 : Double.NaN;
  }

  private static Path path(String text) {
    try {
      if (!text.isEmpty()) {
        return Path.of(text);
      }
    } catch (InvalidPathException e) {
      // said by complaint(), as for an empty one
    }
    throw new TypeConversionException(text);
  }

  /** What is wrong with a value that could not be read. */
  static String complaint(ArgSpec arg, String text) {
    Class<?> type = arg.type();
    if (Path.class.equals(type)) {
      return noPath(text);
    }
    if (type.isEnum()) {
      return "'%s' is none of %s; give one of these".formatted(text, words(type));
    }
    if (type == double.class || type == Double.class) {
      return "'" + text + "' is no number; give one, like 0.1";
    }
    boolean isLong = type == long.class || type == Long.class;
    return WHOLE.matcher(text).matches()
        ? text
            + " is out of range; give a whole number up to "
            + (isLong ? Long.MAX_VALUE : Integer.MAX_VALUE)
        : "'" + text + "' is not a whole number; write digits only, like 64";
  }

  /** The values of a type as users write them. */
  private static String words(Class<?> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(value -> value.toString().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
  }

  private static String noPath(String text) {
    return text.isEmpty()
        ? "is empty; give a path"
        : "'"
            + text
            + "' cannot be the name of a file here; use plain characters, or a locale that has"
            + " these, like LC_ALL=C.UTF-8";
  }

  /** A whole number from 1 on. */
  static int count(String option, String text) {
    double count = WHOLE.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
    if (!(count >= 1)) {
      throw new BadInputException(
          option + ": '" + text + "' is no count; give whole numbers >= 1, like 64");
    }
    if (count > SizeLimits.COUNT) {
      throw new BadInputException(
          "%s: %s is too many; give at most %d".formatted(option, text, SizeLimits.COUNT));
    }
    return (int) count;
  }

  /** Whether a word can only mean a file: it has a slash, or ends as files do. */
  static boolean isPath(String text) {
    return text.contains("/")
        || text.contains(java.io.File.separator)
        || FILE_NAME.matcher(text).matches();
  }

  /** Says that there is no such file where a word can only mean one. */
  static void requireNoPath(String what, String text) {
    if (isPath(text)) {
      throw new BadInputException(text + ": no such file; give the path of a " + what + " file");
    }
  }

  /** A share from 0 to below 1, as {@code 0.1} or {@code 10%}. */
  static double share(String option, String text) {
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

  /** The file that {@code what} names. */
  static Path file(String what, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new BadInputException(what + " " + noPath(text));
    }
  }

  /** A word of a command line as a shell reads it. */
  static String quoted(String word) {
    return word.matches("[\\w./:=,+@%-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}

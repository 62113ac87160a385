package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.problem.SizeLimits;
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
public final class OptionValues {
  private static final Pattern WHOLE = Pattern.compile("[-+]?[0-9]+");

  private OptionValues() {}

  /** Makes a command line read numbers and paths as we do. */
  public static void register(CommandLine line) {
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
    double value = Amounts.decimal(text);
    if (!Double.isFinite(value)) {
      throw new TypeConversionException(text);
    }
    return value;
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
  public static String complaint(ArgSpec arg, String text) {
    Class<?> type = arg.type();
    if (Path.class.equals(type)) {
      return FileNames.noPath(text);
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

  /** A whole number from 1 on. */
  public static int count(String option, String text) {
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

  /** A word of a command line as a shell reads it. */
  public static String quoted(String word) {
    return word.matches("[\\w./:=,+@%-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}

package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
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
final class Values {
  private static final Pattern FILE_NAME =
      Pattern.compile(
          ".+\\.(json|ya?ml|toml|txt|csv|tsv|net|net_sc|plat|gz|log|out|pyt?|onnx|safetensors|svg)",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern WHOLE = Pattern.compile("[-+]?\\d+");

  private Values() {}

  /** Makes a command line read numbers and paths as we do. */
  static void register(CommandLine line) {
    line.registerConverter(Integer.class, Values::whole);
    line.registerConverter(int.class, Values::whole);
    line.registerConverter(Path.class, Values::path);
  }

  private static int whole(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException(text);
    }
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
    return WHOLE.matcher(text).matches()
        ? text + " is out of range; give a whole number up to " + Integer.MAX_VALUE
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
    try {
      int count = Integer.parseInt(text);
      if (count >= 1) {
        return count;
      }
    } catch (NumberFormatException e) {
      // said below, as for a number below 1
    }
    throw new BadInputException(
        option + ": '" + text + "' is no count; give whole numbers >= 1, like 64");
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
    try {
      double value =
          Double.parseDouble(percent ? number.substring(0, number.length() - 1) : number);
      double share = percent ? value / 100 : value;
      if (share >= 0 && share < 1) {
        return share;
      }
    } catch (NumberFormatException e) {
      // said below, as for a number that is no share
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
}

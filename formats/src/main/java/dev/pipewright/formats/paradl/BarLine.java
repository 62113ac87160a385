package dev.pipewright.formats.paradl;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.formats.model.GraphAssembly;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A line of ParaDL's files: fields between bars, blanks around them. Blank lines and comments
 * ({@code #…}) are no lines.
 *
 * @param number its place in the file, from 1
 */
record BarLine(Path file, int number, List<String> fields) {
  private static final int MOST_LINES = GraphAssembly.MOST_LAYERS + 1000;
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?");
  private static final Pattern WHOLE = Pattern.compile("\\d{1,18}");

  /** All lines of a file; {@code kind} is what it should be: {@code a ParaDL network}. */
  static List<BarLine> all(Path file, String kind) {
    List<BarLine> all = new ArrayList<>();
    try (TextLines lines = TextLines.open(file, kind)) {
      for (String line = lines.next(); line != null; line = lines.next()) {
        if (line.isBlank() || line.strip().startsWith("#")) {
          continue;
        }
        if (all.size() >= MOST_LINES) {
          throw BadInputException.at(file, lines.number(), GraphAssembly.tooManyLayers());
        }
        List<String> fields = Stream.of(line.split("\\|", -1)).map(String::strip).toList();
        all.add(new BarLine(file, lines.number(), fields));
      }
    }
    if (all.isEmpty()) {
      throw BadInputException.at(file, 1, "the file is empty; expected " + kind);
    }
    return all;
  }

  String field(int index) {
    return fields.get(index);
  }

  BadInputException mistake(String mistake) {
    return BadInputException.at(file, number, mistake);
  }

  /** 0, or a number in {@code range}. */
  double amount(String text, String name, Range range) {
    double value = number(text);
    if (!range.holds(value)) {
      throw mistake(
          "the %s \"%s\" is out of range; write 0 or %s".formatted(name, shortened(text), range));
    }
    return value + 0.0; // no negative zero
  }

  /** A number in {@code range}. */
  double positive(String text, String name, Range range) {
    double value = number(text);
    if (!range.positive(value)) {
      throw mistake(
          "the %s \"%s\" is out of range; write %s".formatted(name, shortened(text), range));
    }
    return value;
  }

  /** NaN where it is none. */
  private static double number(String text) {
    return NUMBER.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
  }

  /** A whole number from 1 to {@code most}. */
  long count(String text, String name, long most) {
    long value = WHOLE.matcher(text).matches() ? Long.parseLong(text) : 0;
    if (value < 1 || value > most) {
      throw mistake(
          "the %s \"%s\" is no count; write a whole number from 1 to %d"
              .formatted(name, shortened(text), most));
    }
    return value;
  }

  static String shortened(String text) {
    return text.length() <= 60 ? text : text.substring(0, 57) + "...";
  }
}

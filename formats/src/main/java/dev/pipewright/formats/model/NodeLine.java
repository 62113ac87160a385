package dev.pipewright.formats.model;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A node line of a graph text, as the file says it: milliseconds and bytes for its whole
 * mini-batch.
 *
 * @param line where it stands
 */
record NodeLine(
    String id,
    String description,
    double forwardMilliseconds,
    double backwardMilliseconds,
    double activationBytes,
    double parameterBytes,
    int line) {
  private static final String FORWARD = "forward_compute_time";
  private static final String BACKWARD = "backward_compute_time";
  private static final String ACTIVATION = "activation_size";
  private static final String PARAMETERS = "parameter_size";
  private static final List<String> KEYS = List.of(FORWARD, BACKWARD, ACTIVATION, PARAMETERS);
  private static final String FORM =
      "a node reads \"node1 -- description -- forward_compute_time=1, backward_compute_time=2, "
          + "activation_size=3, parameter_size=4\"";

  /**
   * What other tools append: the stage that PipeDream chose, the virtual layer that Harmony did.
   */
  private static final Pattern IGNORED = Pattern.compile("(stage|vlayer)_id=\\S*\\s*");

  private static final Pattern ID = Pattern.compile("node\\S+");
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?");

  static NodeLine parse(Path file, int line, String text) {
    String[] fields = text.strip().split(" -- ", -1);
    if (!ID.matcher(fields[0]).matches()) {
      throw BadInputException.at(
          file, line, "\"" + shortened(text) + "\" is neither a node nor an edge; " + FORM);
    }
    if (fields.length < 3 || fields[2].isBlank()) {
      throw lacking(file, line, fields[0], fields.length < 2 ? "description" : FORWARD);
    }
    for (int i = 3; i < fields.length; i++) {
      if (!IGNORED.matcher(fields[i]).matches()) {
        throw BadInputException.at(
            file,
            line,
            "%s has the field \"%s\", which a node does not have; %s"
                .formatted(fields[0], shortened(fields[i]), FORM));
      }
    }
    double[] values = values(file, line, fields[0], fields[2]);
    return new NodeLine(fields[0], fields[1], values[0], values[1], values[2], values[3], line);
  }

  /** Values in the order of the keys. */
  private static double[] values(Path file, int line, String id, String list) {
    double[] values = new double[KEYS.size()];
    Arrays.fill(values, Double.NaN);
    for (String entry : list.split(",", -1)) {
      int equals = entry.indexOf('=');
      String key = (equals < 0 ? entry : entry.substring(0, equals)).strip();
      int at = KEYS.indexOf(key);
      if (at < 0) {
        throw unknown(file, line, id, key, values);
      }
      if (equals < 0) {
        throw lacking(file, line, id, key);
      }
      if (!Double.isNaN(values[at])) {
        throw BadInputException.at(file, line, id + " gives " + key + " twice; give it once");
      }
      values[at] = sum(file, line, key, entry.substring(equals + 1));
    }
    for (int i = 0; i < values.length; i++) {
      if (Double.isNaN(values[i])) {
        throw lacking(file, line, id, KEYS.get(i));
      }
    }
    return values;
  }

  /**
   * A key that is cut short at the end of a line is a missing field; anything else is a wrong one.
   */
  private static BadInputException unknown(
      Path file, int line, String id, String key, double[] before) {
    for (String known : KEYS) {
      if (Double.isNaN(before[KEYS.indexOf(known)]) && known.startsWith(key)) {
        return lacking(file, line, id, known);
      }
    }
    return BadInputException.at(
        file,
        line,
        id + " has an unknown field \"" + shortened(key) + "\"; " + Nearest.hint(key, KEYS));
  }

  private static BadInputException lacking(Path file, int line, String id, String first) {
    List<String> all = new ArrayList<>(KEYS);
    if (first.equals("description")) {
      all.add(0, first);
    }
    String missing = String.join(", ", all.subList(all.indexOf(first), all.size()));
    return BadInputException.at(file, line, id + " is cut off before its " + missing + "; " + FORM);
  }

  /** {@code 5} or {@code [2; 3]}. */
  private static double sum(Path file, int line, String key, String value) {
    String text = value.strip();
    if (text.startsWith("[") && text.endsWith("]")) {
      double sum = 0;
      for (String part : text.substring(1, text.length() - 1).split(";", -1)) {
        sum += number(file, line, key, part.strip());
      }
      return inRange(file, line, key, text, sum);
    }
    return number(file, line, key, text);
  }

  private static double number(Path file, int line, String key, String text) {
    boolean time = key.equals(FORWARD) || key.equals(BACKWARD);
    String right = time ? "; times are milliseconds >= 0" : "; sizes are bytes >= 0";
    String what = key + "=" + shortened(text);
    if (!NUMBER.matcher(text).matches()) {
      throw BadInputException.at(file, line, what + " is not a finite number" + right);
    }
    double number = Double.parseDouble(text);
    if (number < 0) {
      throw BadInputException.at(file, line, what + " is negative" + right);
    }
    return inRange(file, line, key, text, number);
  }

  private static double inRange(Path file, int line, String key, String text, double number) {
    boolean time = key.equals(FORWARD) || key.equals(BACKWARD);
    double value = time ? number / 1000 : number;
    Range range = time ? Range.SECONDS : Range.BYTES;
    if (!range.holds(value)) {
      throw BadInputException.at(
          file,
          line,
          "%s=%s is %s than any layer's; write 0 or what comes to %s"
              .formatted(key, shortened(text), value > 1 ? "larger" : "smaller", range));
    }
    return number + 0.0; // no negative zero
  }

  private static String shortened(String text) {
    return text.length() <= 60 ? text : text.substring(0, 57) + "...";
  }
}

package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.file.BadInputException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Hosts as Slurm writes them: {@code n[01-04,7],gpu-3}, of which one or several parts in brackets
 * are ranges with leading zeros (Slurm, {@code scontrol show hostnames}).
 */
final class HostList {
  private static final Pattern RANGE = Pattern.compile("\\[([^\\]\\[]*)\\]");
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  private HostList() {}

  /**
   * The first host.
   *
   * @param variable to name in a refusal
   */
  static String first(String variable, String list) {
    int depth = 0;
    int end = 0;
    while (end < list.length() && (depth > 0 || list.charAt(end) != ',')) {
      char c = list.charAt(end++);
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    }
    Matcher ranges = RANGE.matcher(list.substring(0, end));
    StringBuilder first = new StringBuilder();
    while (ranges.find()) {
      Matcher number = NUMBER.matcher(ranges.group(1));
      ranges.appendReplacement(first, number.lookingAt() ? number.group() : "[");
    }
    ranges.appendTail(first);
    if (first.isEmpty() || first.indexOf("[") >= 0 || first.indexOf("]") >= 0) {
      throw new BadInputException(
          "%s: '%s' is no list of hosts; give --coordinator HOST:PORT".formatted(variable, list));
    }
    return first.toString();
  }
}

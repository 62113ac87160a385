package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.file.BadInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Hosts as Slurm writes them: {@code n[01-04,7],gpu-3}, of which one or several parts in brackets
 * are ranges with leading zeros (Slurm, {@code scontrol show hostnames}).
 */
final class HostList {
  private static final Pattern RANGE = Pattern.compile("\\[([^\\]\\[]*)\\]");
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  private static final Pattern ENDS = Pattern.compile("(\\d{1,9})(?:-(\\d{1,9}))?");
  private static final int MOST = 1 << 16;

  private HostList() {}

  /**
   * All hosts, in order; empty where a part is no host or range.
   *
   * @param list of at most {@link #MOST} hosts
   */
  static List<String> all(String list) {
    List<String> hosts = new ArrayList<>();
    int from = 0;
    int depth = 0;
    for (int i = 0; i <= list.length(); i++) {
      char c = i < list.length() ? list.charAt(i) : ',';
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (c == ',' && depth == 0) {
        List<String> part = expanded(list.substring(from, i));
        if (part.isEmpty() || hosts.size() + part.size() > MOST) {
          return List.of();
        }
        hosts.addAll(part);
        from = i + 1;
      }
    }
    return hosts;
  }

  /** The hosts of one word, of which the first range in brackets varies slowest. */
  private static List<String> expanded(String word) {
    Matcher range = RANGE.matcher(word);
    if (!range.find()) {
      return word.isBlank() || word.indexOf('[') >= 0 || word.indexOf(']') >= 0
          ? List.of()
          : List.of(word);
    }
    List<String> hosts = new ArrayList<>();
    for (String part : range.group(1).split(",", -1)) {
      Matcher ends = ENDS.matcher(part);
      if (!ends.matches()) {
        return List.of();
      }
      String low = ends.group(1);
      long first = Long.parseLong(low);
      long last = ends.group(2) == null ? first : Long.parseLong(ends.group(2));
      if (last - first >= MOST) {
        return List.of();
      }
      for (long number = first; number <= last; number++) {
        String digits = "0".repeat(Math.max(0, low.length() - ("" + number).length())) + number;
        hosts.addAll(
            expanded(word.substring(0, range.start()) + digits + word.substring(range.end())));
      }
    }
    return hosts;
  }

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

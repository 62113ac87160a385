package dev.pipewright.formats.cluster;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Timings as comma-separated values; columns by name, in any order, unknown ones ignored. */
final class TimingTable {
  /** Columns of times, and how many of their units make a second. */
  private static final Map<String, Double> TIMES =
      Map.of("seconds", 1.0, "time_us", 1e6, "time_ns", 1e9);

  private final Path file;
  private final TimingSelection selection;
  private final Set<String> machines = new LinkedHashSet<>();
  private List<String> columns = List.of();
  private String timeColumn = "";

  TimingTable(Path file, TimingSelection selection) {
    this.file = file;
    this.selection = selection;
  }

  static boolean isHeading(LogLine line) {
    return cells(line).size() > 1 && cells(line).contains("bytes");
  }

  private static List<String> cells(LogLine line) {
    return Arrays.stream(line.text().split(",", -1)).map(String::strip).toList();
  }

  void read(List<LogLine> lines, TimingsFound found) {
    headings(lines.get(0));
    for (LogLine line : lines.subList(1, lines.size())) {
      List<String> cells = cells(line);
      if (cells.size() != columns.size()) {
        throw BadInputException.at(
            file,
            line.number(),
            "%d values stand under %d headings; expected one for each"
                .formatted(cells.size(), columns.size()));
      }
      if (isWanted(cells)) {
        add(line, cells, found);
      }
    }
    if (machines.size() > 1 && selection.machine().isEmpty()) {
      throw BadInputException.at(
          file,
          1,
          "holds timings of "
              + machines.size()
              + " machines; choose one: --machine "
              + String.join(" or ", machines));
    }
    if (found.lines.isEmpty() && selection.machine().isPresent() && lines.size() > 1) {
      throw BadInputException.at(
          file,
          1,
          "no machine \"%s\"; %s"
              .formatted(
                  selection.machine().get(), Nearest.hint(selection.machine().get(), machines)));
    }
  }

  private void headings(LogLine line) {
    columns = cells(line);
    List<String> times = columns.stream().filter(TIMES::containsKey).toList();
    if (times.size() != 1) {
      throw BadInputException.at(
          file,
          line.number(),
          (times.isEmpty() ? "has no column of times" : "has " + times.size() + " columns of times")
              + "; expected one of seconds, time_us, time_ns");
    }
    timeColumn = times.get(0);
    if (!columns.contains("devices") && selection.devices().isEmpty()) {
      throw BadInputException.at(
          file, line.number(), "has no column devices; add it or give --devices N");
    }
    if (!columns.contains("machine") && selection.machine().isPresent()) {
      throw BadInputException.at(file, line.number(), "has no column machine; leave out --machine");
    }
  }

  private boolean isWanted(List<String> cells) {
    int column = columns.indexOf("machine");
    if (column < 0) {
      return true;
    }
    machines.add(cells.get(column));
    return selection.machine().map(cells.get(column)::equals).orElse(true);
  }

  /**
   * A mistake ends the reading: a table is written by hand or by a program that can be put right.
   */
  private void add(LogLine line, List<String> cells, TimingsFound found) {
    String time = cells.get(columns.indexOf(timeColumn));
    double seconds = number(line, timeColumn, time) / TIMES.getOrDefault(timeColumn, 1.0);
    double bytes = number(line, "bytes", cells.get(columns.indexOf("bytes")));
    int devices = devices(line, cells);
    TimingsFound.mistake(line.number(), devices, bytes, seconds, time)
        .ifPresent(mistake -> {
          throw TimingWords.refusal(file, mistake);
        });
    found.add(line.number(), kind(line, cells), devices, bytes, seconds, time);
  }

  private int devices(LogLine line, List<String> cells) {
    int column = columns.indexOf("devices");
    if (column < 0) {
      return selection.devices().orElseThrow();
    }
    double devices = number(line, "devices", cells.get(column));
    if (devices != Math.rint(devices) || Math.abs(devices) > Integer.MAX_VALUE) {
      throw BadInputException.at(
          file,
          line.number(),
          "devices=" + cells.get(column) + " is no number of devices; give a whole number >= 2");
    }
    return (int) devices;
  }

  private Kind kind(LogLine line, List<String> cells) {
    int column = columns.indexOf("collective");
    if (column < 0) {
      return selection.collective().orElse(Kind.ALL_REDUCE);
    }
    Kind kind = TimingWords.KINDS.get(cells.get(column));
    if (kind == null) {
      throw BadInputException.at(
          file,
          line.number(),
          "unknown collective \"%s\"; %s"
              .formatted(
                  cells.get(column), Nearest.hint(cells.get(column), TimingWords.KINDS.keySet())));
    }
    return kind;
  }

  private double number(LogLine line, String column, String cell) {
    Double number = TextLines.number(cell);
    if (number == null) {
      throw BadInputException.at(
          file,
          line.number(),
          column + "=" + cell + " is no number; write digits, like 1048576 or 4.4e-5");
    }
    return number;
  }
}

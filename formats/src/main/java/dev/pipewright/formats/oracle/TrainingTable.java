package dev.pipewright.formats.oracle;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads comma-separated training runs: a line of headings, then a run in each line (RFC 4180, cells
 * within a line). {@code docs/formats.md} lists the columns and their defaults.
 *
 * @param headings the columns in order
 * @param rows the runs in order
 * @param unknown headings that predictions neither read nor know
 */
public record TrainingTable(List<String> headings, List<TrainingRow> rows, List<String> unknown) {
  private static final int MOST_ROWS = 100_000;
  private static final int MOST_COLUMNS = 1_000;

  public TrainingTable {
    headings = List.copyOf(headings);
    rows = List.copyOf(rows);
    unknown = List.copyOf(unknown);
  }

  /** Reads a file; throws {@link BadInputException} with its line and column. */
  public static TrainingTable read(Path file) {
    List<String> headings = List.of();
    List<String> unknown = List.of();
    List<TrainingRow> rows = new ArrayList<>();
    try (TextLines lines = TextLines.open(file, "a table of training runs")) {
      for (@Nullable String line = lines.next(); line != null; line = lines.next()) {
        if (line.isBlank()) {
          continue;
        }
        List<String> cells = cells(file, lines.number(), line);
        if (headings.isEmpty()) {
          headings = cells;
          unknown = unknown(file, lines.number(), cells);
        } else {
          rows.add(row(file, lines.number(), headings, cells));
        }
        if (rows.size() > MOST_ROWS) {
          throw BadInputException.at(
              file, lines.number(), "holds more than %,d runs; split it".formatted(MOST_ROWS));
        }
      }
    }
    if (rows.isEmpty()) {
      throw BadInputException.in(
          file,
          "holds no runs; write a line of headings, such as machine,devices,layers,hidden,heads,sequence,"
              + "global_batch, and a line for each run");
    }
    return new TrainingTable(headings, rows, unknown);
  }

  /**
   * Whether the first line that is not blank has the headings of measured training runs: {@code
   * iteration_s} and {@code layers}.
   */
  public static boolean isMeasured(Path file) {
    try (TextLines lines = TextLines.openLog(file, "measured collectives or training runs")) {
      for (@Nullable String line = lines.next(); line != null; line = lines.next()) {
        if (!line.isBlank()) {
          List<String> words = List.of(line.replace("\"", "").split("\\s*,\\s*", -1));
          return words.contains("iteration_s") && words.contains("layers");
        }
      }
    }
    return false;
  }

  private static TrainingRow row(Path file, int line, List<String> headings, List<String> cells) {
    if (cells.size() != headings.size()) {
      throw BadInputException.at(
          file,
          line,
          Math.min(cells.size(), headings.size()) + 1,
          "%d values stand under %d headings; write one for each"
              .formatted(cells.size(), headings.size()));
    }
    return new TrainingRow(file, line, headings, cells);
  }

  private static List<String> unknown(Path file, int line, List<String> headings) {
    List<String> unknown = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < headings.size(); i++) {
      String name = headings.get(i);
      if (!seen.add(name)) {
        throw BadInputException.at(
            file, line, i + 1, "the column %s stands twice; keep one".formatted(shown(name)));
      }
      if (!TrainingColumns.isKnown(name)) {
        Optional<String> meant = TrainingColumns.meant(name);
        if (meant.isPresent()) {
          throw BadInputException.at(
              file,
              line,
              i + 1,
              "unknown column %s; did you mean \"%s\"?".formatted(shown(name), meant.get()));
        }
        unknown.add(name);
      }
    }
    for (String needed : TrainingRow.REQUIRED) {
      if (!headings.contains(needed)) {
        throw BadInputException.at(
            file, line, "there is no column %s; add it among the headings".formatted(needed));
      }
    }
    return unknown;
  }

  private static String shown(String name) {
    return "\"" + ShownText.of(name) + "\"";
  }

  private static List<String> cells(Path file, int line, String text) {
    List<String> cells = new ArrayList<>();
    int at = 0;
    while (at <= text.length()) {
      if (cells.size() >= MOST_COLUMNS) {
        throw BadInputException.at(
            file, line, "has more than %,d columns; leave some out".formatted(MOST_COLUMNS));
      }
      if (at < text.length() && text.charAt(at) == '"') {
        StringBuilder cell = new StringBuilder();
        at = quoted(file, line, cells.size() + 1, text, at + 1, cell);
        cells.add(cell.toString());
      } else {
        int comma = text.indexOf(',', at);
        int end = comma < 0 ? text.length() : comma;
        cells.add(text.substring(at, end).strip());
        at = end;
      }
      at++;
    }
    return cells;
  }

  /** Reads a quoted cell from after its first quote; returns where its comma is. */
  private static int quoted(
      Path file, int line, int column, String text, int from, StringBuilder cell) {
    int at = from;
    while (at < text.length()) {
      char c = text.charAt(at);
      boolean doubled = c == '"' && at + 1 < text.length() && text.charAt(at + 1) == '"';
      if (c == '"' && !doubled) {
        if (at + 1 < text.length() && text.charAt(at + 1) != ',') {
          throw BadInputException.at(
              file, line, column, "a comma is missing after the quote; add it or double the quote");
        }
        return at + 1;
      }
      cell.append(c);
      at += doubled ? 2 : 1;
    }
    throw BadInputException.at(
        file, line, column, "the quote is not closed in this line; add one at the cell's end");
  }
}

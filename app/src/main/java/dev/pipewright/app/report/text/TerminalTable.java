package dev.pipewright.app.report.text;

import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import java.util.ArrayList;
import java.util.List;

/** A table in aligned columns. */
public final class TerminalTable {
  private static final int LONGEST_BAR = 8;
  private static final int SHORTEST_BAR = 4;
  private static final int NARROWEST = 20; // columns in which words are wrapped
  private static final String INDENT = "  ";

  private final Table table;
  private final int width;
  private final Ink ink;
  private final int bar;
  private final int gap;
  private final int[] widths;

  private TerminalTable(Table table, int width, Ink ink) {
    this.table = table;
    this.width = width;
    this.ink = ink;
    int excess = total(widths(table, LONGEST_BAR)) - width;
    bar = Math.max(SHORTEST_BAR, Math.min(LONGEST_BAR, LONGEST_BAR - excess));
    widths = widths(table, bar);
    gap = total(widths) <= width ? 2 : 1;
    int last = widths.length - 1;
    int room = width - INDENT.length() - gap * last;
    for (int i = 0; i < last; i++) {
      room -= widths[i];
    }
    boolean sentences =
        !table.columns().get(last).right()
            && table.rows().stream().noneMatch(row -> row.get(last).hasBar());
    if (sentences && room >= NARROWEST && widths[last] > room) {
      widths[last] = room;
    }
  }

  /**
   * Appends the table in at most {@code width} columns: with shorter bars and gaps, the words of
   * the last column wrapped, or in parts.
   */
  public static void append(StringBuilder out, Table table, int width, Ink ink) {
    new TerminalTable(table, width, ink).append(out);
  }

  /** Whether all columns stand next to each other in so many of a terminal. */
  public static boolean fits(Table table, int width) {
    return new TerminalTable(table, width, new Ink(false)).parts().size() == 1;
  }

  private void append(StringBuilder out) {
    boolean further = false;
    for (List<Integer> part : parts()) {
      out.append(further ? "\n" : "");
      headings(out, part);
      for (List<Cell> row : table.rows()) {
        if (further && part.stream().skip(1).allMatch(i -> row.get(i).isEmpty())) {
          continue; // it has been named above, and has nothing here
        }
        StringBuilder line = new StringBuilder(INDENT);
        for (int i : part) {
          TextWidth.repeat(line, ' ', i == part.get(0) ? 0 : gap);
          if (i == widths.length - 1 && TextWidth.of(row.get(i).text()) > widths[i]) {
            int begin = width - widths[i];
            StringBuilder lines = new StringBuilder();
            TextWidth.wrap(lines, row.get(i).text(), width, begin);
            line.append(lines.toString().stripTrailing());
          } else {
            cell(line, row.get(i), widths[i], table.columns().get(i).right());
          }
        }
        endLine(out, line);
      }
      further = true;
    }
  }

  /**
   * The columns that stand next to each other. Where not all do, further ones come below in a table
   * of their own, with the first column again.
   */
  private List<List<Integer>> parts() {
    List<List<Integer>> parts = new ArrayList<>();
    List<Integer> part = new ArrayList<>(List.of(0));
    int used = INDENT.length() + widths[0];
    for (int i = 1; i < widths.length; i++) {
      if (used + gap + widths[i] > width && part.size() > 1) {
        parts.add(part);
        part = new ArrayList<>(List.of(0));
        used = INDENT.length() + widths[0];
      }
      part.add(i);
      used += gap + widths[i];
    }
    parts.add(part);
    return parts;
  }

  private static int total(int[] widths) {
    int total = INDENT.length() - 2;
    for (int width : widths) {
      total += width + 2;
    }
    return total;
  }

  private static int[] widths(Table table, int bar) {
    int[] widths = new int[table.columns().size()];
    for (int i = 0; i < widths.length; i++) {
      Column column = table.columns().get(i);
      widths[i] = Math.max(line(column, 0).length(), line(column, 1).length());
      for (List<Cell> row : table.rows()) {
        Cell cell = row.get(i);
        widths[i] = Math.max(widths[i], TextWidth.of(cell.text()) + (cell.hasBar() ? bar + 1 : 0));
      }
    }
    return widths;
  }

  /** Line 0 or 1 of a heading; a heading of one line stands on line 1. */
  private static String line(Column column, int line) {
    String heading = column.heading();
    int cut = heading.indexOf('\n');
    if (cut < 0) {
      return line == 0 ? "" : heading;
    }
    return line == 0
        ? heading.substring(0, cut).replace('\u00ad', '-')
        : heading.substring(cut + 1);
  }

  private void headings(StringBuilder out, List<Integer> part) {
    for (int line = 0; line < 2; line++) {
      StringBuilder text = new StringBuilder(INDENT);
      boolean empty = true;
      for (int i : part) {
        Column column = table.columns().get(i);
        TextWidth.repeat(text, ' ', i == part.get(0) ? 0 : gap);
        TextWidth.pad(text, line(column, line), widths[i], column.right());
        empty &= line(column, line).isEmpty();
      }
      if (!empty) {
        StringBuilder painted = new StringBuilder();
        ink.paint(painted, Ink.DIM, text.toString().stripTrailing());
        endLine(out, painted);
      }
    }
  }

  private void cell(StringBuilder line, Cell cell, int width, boolean right) {
    int rest = width;
    if (cell.hasBar()) {
      bar(line, cell.bar());
      line.append(' ');
      rest -= bar + 1;
    }
    TextWidth.pad(line, cell.text(), rest, right || cell.hasBar());
  }

  private void bar(StringBuilder line, double share) {
    int filled = (int) Math.round(Math.max(0, Math.min(1, share)) * bar);
    StringBuilder run = new StringBuilder();
    TextWidth.repeat(run, '█', filled);
    ink.paint(line, share > 1 ? "35" : "34", run.toString());
    run.setLength(0);
    TextWidth.repeat(run, '░', bar - filled);
    ink.paint(line, Ink.DIM, run.toString());
  }

  private static void endLine(StringBuilder out, StringBuilder line) {
    int end = line.length();
    while (end > 0 && line.charAt(end - 1) == ' ') {
      end--;
    }
    out.append(line, 0, end).append('\n');
  }
}

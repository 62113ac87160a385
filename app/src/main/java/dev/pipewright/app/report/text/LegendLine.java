package dev.pipewright.app.report.text;

import java.util.List;

/** Entries of a legend for a terminal, two blanks apart; one breaks only where it has to. */
public final class LegendLine {
  private LegendLine() {}

  /** Appends them in lines of at most {@code width} columns after {@code indent} blanks. */
  public static void append(StringBuilder out, List<String> entries, int indent, int width) {
    int used = Integer.MAX_VALUE;
    for (String entry : entries) {
      int size = TextWidth.of(entry);
      if (used > width - 2 - size) {
        out.append(used == Integer.MAX_VALUE ? "" : "\n");
        TextWidth.repeat(out, ' ', indent);
        used = indent;
      } else {
        out.append("  ");
        used += 2;
      }
      StringBuilder lines = new StringBuilder();
      TextWidth.wrap(lines, entry, width, indent + 2);
      out.append(lines.toString().stripTrailing());
      used += size;
    }
    out.append('\n');
  }
}

package dev.pipewright.app.report.text;

/** A figure of a terminal report: what it is, dim, and its value, wrapped behind that. */
public final class FigureLine {
  private static final int LABEL = 17; // columns of "  data parallel  "

  private FigureLine() {}

  public static void append(StringBuilder out, Ink ink, int width, String words, String value) {
    StringBuilder label = new StringBuilder("  ");
    TextWidth.pad(label, words, LABEL - 2, false);
    ink.paint(out, Ink.DIM, label.toString());
    TextWidth.wrap(out, value, width, LABEL);
  }
}

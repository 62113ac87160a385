package dev.pipewright.app.report.text;

/** Colours of a terminal, or none. */
public record Ink(boolean colours) {
  public static final String BOLD = "1";
  public static final String DIM = "2";

  /** Appends {@code text} in a style, named by the terminal's number for it. */
  public void paint(StringBuilder out, String style, String text) {
    if (colours) {
      out.append("\u001b[").append(style).append('m').append(text).append("\u001b[0m");
    } else {
      out.append(text);
    }
  }
}

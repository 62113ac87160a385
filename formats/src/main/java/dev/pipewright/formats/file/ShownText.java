package dev.pipewright.formats.file;

/** A text of a file as a message shows it. */
public final class ShownText {
  private static final int LONGEST = 60;

  private ShownText() {}

  /** In one line, and short: longer texts end with dots. */
  public static String of(String text) {
    String start = text.length() <= 10 * LONGEST ? text : text.substring(0, 10 * LONGEST);
    String line = start.replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST - 3) + "...";
  }
}

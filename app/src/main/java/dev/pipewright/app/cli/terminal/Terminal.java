package dev.pipewright.app.cli.terminal;

import dev.pipewright.app.report.text.TextWidth;

/** What the terminal can show. */
public final class Terminal {
  private Terminal() {}

  private static final int LEAST = 60;
  private static final int MOST = 200; // lines that are longer are hard to follow
  private static final int USUAL = 100;

  /**
   * Columns of the terminal, where the launcher could ask it, or of {@code COLUMNS}; otherwise
   * {@value #USUAL}. Reports are laid out for {@value #LEAST} to {@value #MOST}.
   */
  public static int columns() {
    return Math.min(MOST, Math.max(LEAST, Integer.getInteger("pipewright.columns", USUAL)));
  }

  /** A sentence of an answer: broken at blanks on a terminal, one line elsewhere. */
  public static String sentence(String text) {
    return Boolean.getBoolean("pipewright.terminal")
        ? TextWidth.sentence(text, columns())
        : text + System.lineSeparator();
  }

  /** The same, with so many blanks before each line but the first: above lines with fewer. */
  public static String sentence(String text, int indent) {
    return Boolean.getBoolean("pipewright.terminal")
        ? TextWidth.sentence(text, columns(), indent)
        : text + System.lineSeparator();
  }

  /** Whether standard error is a terminal, where a line may change. */
  public static boolean showsProgress() {
    return Boolean.getBoolean("pipewright.progress") && !"dumb".equals(System.getenv("TERM"));
  }

  /**
   * Whether to colour: on a terminal, unless {@code NO_COLOR} is set to anything or {@code TERM} is
   * {@code dumb}. The launcher knows whether standard output is one; Java 21 has no way to ask.
   */
  public static boolean colours() {
    String no = System.getenv("NO_COLOR");
    boolean plain = (no != null && !no.isEmpty()) || "dumb".equals(System.getenv("TERM"));
    return !plain && Boolean.getBoolean("pipewright.terminal");
  }
}

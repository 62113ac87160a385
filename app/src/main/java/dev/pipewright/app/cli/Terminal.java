package dev.pipewright.app.cli;

/** What the terminal can show. */
final class Terminal {
  private Terminal() {}

  /** Columns of the terminal, where the launcher could ask it; otherwise those of a report. */
  static int columns() {
    return Math.min(160, Math.max(80, Integer.getInteger("pipewright.columns", 100)));
  }

  /**
   * Whether to colour: on a terminal, unless {@code NO_COLOR} is set to anything or {@code TERM} is
   * {@code dumb}. The launcher knows whether standard output is one; Java 21 has no way to ask.
   */
  static boolean colours() {
    String no = System.getenv("NO_COLOR");
    boolean plain = (no != null && !no.isEmpty()) || "dumb".equals(System.getenv("TERM"));
    return !plain && Boolean.getBoolean("pipewright.terminal");
  }
}

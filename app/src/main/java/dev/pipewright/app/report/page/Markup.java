package dev.pipewright.app.report.page;

/** Escapes text for the languages of our files. */
public final class Markup {
  private Markup() {}

  /** {@code text} for the content or a quoted attribute of XML or HTML. */
  public static String of(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    append(out, text);
    return out.toString();
  }

  /** Appends the same; control characters, which XML has no way to write, become blanks. */
  public static void append(StringBuilder out, String text) {
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      switch (letter) {
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '&' -> out.append("&amp;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        default -> out.append(letter < ' ' || letter >= 0xFFFE ? ' ' : letter);
      }
    }
  }

  /**
   * Appends {@code text} as a JSON string. Angle brackets, ampersands and JavaScript's two line
   * separators are written as numbers, so that the string may stand in a {@code script} element.
   */
  public static void quote(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      if (letter == '"' || letter == '\\') {
        out.append('\\').append(letter);
      } else if (letter < ' '
          || letter == '<'
          || letter == '>'
          || letter == '&'
          || letter == '\u2028'
          || letter == '\u2029'
          || (Character.isSurrogate(letter) && !inPair(text, i))) {
        unicode(out, letter);
      } else {
        out.append(letter);
      }
    }
    out.append('"');
  }

  private static boolean inPair(String text, int at) {
    return Character.isHighSurrogate(text.charAt(at))
        ? at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
        : at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
  }

  private static void unicode(StringBuilder out, char letter) {
    out.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) {
      out.append(Character.forDigit(letter >> shift & 15, 16));
    }
  }
}

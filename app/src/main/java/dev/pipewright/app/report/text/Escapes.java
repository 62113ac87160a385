package dev.pipewright.app.report.text;

/**
 * Shows what would otherwise command a terminal: control characters, with them all escape
 * sequences, and marks that turn the direction of writing, as {@code \}{@code u001b}, which is also
 * how JSON writes them.
 */
public final class Escapes {
  private Escapes() {}

  /** Whether a character does something to a terminal instead of appearing there. */
  public static boolean isControl(char letter) {
    return Character.isISOControl(letter)
        || letter == 0x061C // marks of direction
        || (letter >= 0x200E && letter <= 0x200F)
        || (letter >= 0x2028 && letter <= 0x202E) // also separators of lines
        || (letter >= 0x2066 && letter <= 0x2069);
  }

  /** Appends a character's number. */
  public static void append(StringBuilder out, char letter) {
    out.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) {
      out.append(Character.forDigit(letter >> shift & 0xF, 16));
    }
  }

  /** A name or a sentence on one line. */
  static String line(String text) {
    if (text.chars().noneMatch(letter -> isControl((char) letter))) {
      return text;
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      if (isControl(text.charAt(i))) {
        append(out, text.charAt(i));
      } else {
        out.append(text.charAt(i));
      }
    }
    return out.toString();
  }
}

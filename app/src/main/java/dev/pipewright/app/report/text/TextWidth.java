package dev.pipewright.app.report.text;

/** Columns that text takes on a terminal: marks that combine take none, East Asian letters two. */
public final class TextWidth {
  private TextWidth() {}

  /** Columns of a text. */
  public static int of(String named) {
    String text = Escapes.line(named);
    int width = 0;
    for (int i = 0; i < text.length(); ) {
      int letter = text.codePointAt(i);
      width += of(letter);
      i += Character.charCount(letter);
    }
    return width;
  }

  private static int of(int letter) {
    if (letter < 0x300) {
      return 1;
    }
    int type = Character.getType(letter);
    if (type == Character.NON_SPACING_MARK
        || type == Character.ENCLOSING_MARK
        || type == Character.FORMAT) {
      return 0;
    }
    return isWide(letter) ? 2 : 1;
  }

  private static boolean isWide(int letter) {
    return letter >= 0x1100
        && (letter <= 0x115F // Hangul Jamo
            || (letter >= 0x2E80 && letter <= 0xA4CF) // CJK to Yi
            || (letter >= 0xAC00 && letter <= 0xD7A3) // Hangul
            || (letter >= 0xF900 && letter <= 0xFAFF) // CJK, compatibility
            || (letter >= 0xFE30 && letter <= 0xFE6F)
            || (letter >= 0xFF00 && letter <= 0xFF60) // full width forms
            || (letter >= 0x1F300 && letter <= 0x1FAFF) // pictures
            || (letter >= 0x20000 && letter <= 0x3FFFD));
  }

  /**
   * Appends {@code text} and blanks up to {@code width} columns, the blanks first when {@code
   * right}.
   */
  public static void pad(StringBuilder line, String text, int width, boolean right) {
    String shown = Escapes.line(text);
    int blanks = width - of(shown);
    if (right) {
      repeat(line, ' ', blanks);
    }
    line.append(shown);
    if (!right) {
      repeat(line, ' ', blanks);
    }
  }

  public static void repeat(StringBuilder line, char letter, int count) {
    for (int i = 0; i < count; i++) {
      line.append(letter);
    }
  }

  /** {@code named} in at most {@code width} columns, ended by an ellipsis where it is longer. */
  public static String cut(String named, int width) {
    String text = Escapes.line(named);
    if (of(text) <= width) {
      return text;
    }
    StringBuilder line = new StringBuilder();
    int used = 1;
    for (int i = 0; i < text.length(); ) {
      int letter = text.codePointAt(i);
      used += of(letter);
      if (used > width) {
        break;
      }
      line.appendCodePoint(letter);
      i += Character.charCount(letter);
    }
    return line.append('…').toString();
  }

  /**
   * How many letters of a word that is longer than a line stand in it; ends are better than parts.
   */
  private static int room(String word, int columns) {
    int letters = 1;
    int best = 0;
    for (int used = of(word.substring(0, 1)); letters < word.length(); letters++) {
      used += of(word.substring(letters, letters + 1));
      if (used > columns) {
        break;
      }
      best = ",/:;".indexOf(word.charAt(letters)) >= 0 ? letters + 1 : best;
    }
    return best > 0 ? best : letters;
  }

  /**
   * A sentence in lines of at most {@code width} columns, all but the first indented by 2 more than
   * the first.
   */
  public static String sentence(String text, int width) {
    return sentence(text, width, text.length() - text.stripLeading().length() + 2);
  }

  /** A sentence in lines of at most {@code width} columns, all but the first indented. */
  public static String sentence(String text, int width, int indent) {
    String words = text.stripLeading();
    int begin = text.length() - words.length();
    StringBuilder out = new StringBuilder();
    repeat(out, ' ', begin);
    wrap(out, words, width, indent, begin);
    return out.toString();
  }

  /** Appends a bold heading, broken where it is longer than {@code width} columns. */
  public static void heading(StringBuilder out, Ink ink, String text, int width) {
    StringBuilder lines = new StringBuilder();
    wrap(lines, text, width, 2, 0);
    ink.paint(out, Ink.BOLD, lines.toString().stripTrailing());
    out.append('\n');
  }

  /**
   * Appends {@code text} broken at blanks, though never between a number and its unit, each line
   * but the first behind {@code indent} blanks.
   */
  public static void wrap(StringBuilder out, String text, int width, int indent) {
    wrap(out, text, width, indent, indent);
  }

  private static void wrap(StringBuilder out, String text, int width, int indent, int begin) {
    String glued = Words.glue(Escapes.line(text));
    int column = begin;
    for (int from = 0; from < glued.length(); ) {
      int end = glued.indexOf(' ', from);
      String word = glued.substring(from, end < 0 ? glued.length() : end);
      int size = of(word);
      if (from > 0 && column + 1 + size > width) {
        out.append('\n');
        repeat(out, ' ', indent);
        column = indent;
      } else if (from > 0) {
        out.append(' ');
        column++;
      }
      for (; column + size > width && size > width - indent; size = of(word)) {
        int cut = room(word, width - column);
        out.append(word, 0, cut).append('\n');
        repeat(out, ' ', indent);
        column = indent;
        word = word.substring(cut);
      }
      out.append(word.replace(Words.GLUE, ' '));
      column += size;
      from = end < 0 ? glued.length() : end + 1;
    }
    out.append('\n');
  }
}

package dev.pipewright.formats.transformer;

import java.util.ArrayList;
import java.util.List;

/**
 * The words of a shell script: quotes removed, comments left out, lines joined at backslashes.
 * Nothing is run; {@code $} of an expansion stays as written, and one that quotes make a plain
 * letter becomes {@link #PLAIN_DOLLAR}.
 */
final class ShellWords {
  static final char PLAIN_DOLLAR = '\uE000';
  private static final String OPERATORS = "();&|<>\n";

  /**
   * A word or an operator.
   *
   * @param operator whether it is one of {@code ( ) ; & | < >} or the end of a line
   * @param line where it begins
   */
  record Word(String text, boolean operator, int line) {}

  private final String text;
  private final List<Word> words = new ArrayList<>();
  private final StringBuilder word = new StringBuilder();
  private boolean inWord;
  private int at;
  private int line;
  private int begins;

  private ShellWords(String text, int line) {
    this.text = text;
    this.line = line;
  }

  /**
   * The words of a text.
   *
   * @param line the number of its first line
   */
  static List<Word> of(String text, int line) {
    ShellWords shell = new ShellWords(text, line);
    shell.split();
    return shell.words;
  }

  private void split() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\\') {
        escape(false);
      } else if (c == '\'') {
        single();
      } else if (c == '"') {
        twice();
      } else if (c == '$') {
        expansion();
      } else if (c == '#' && !inWord) {
        skipLine();
      } else if (OPERATORS.indexOf(c) >= 0) {
        end();
        words.add(new Word("" + c, true, line));
        step();
      } else if (Character.isWhitespace(c)) {
        end();
        step();
      } else {
        append(c);
        step();
      }
    }
    end();
  }

  private void step() {
    if (text.charAt(at) == '\n') {
      line++;
    }
    at++;
  }

  private void append(char c) {
    begin();
    word.append(c);
  }

  private void begin() {
    if (!inWord) {
      inWord = true;
      begins = line;
    }
  }

  private void end() {
    if (inWord) {
      words.add(new Word(word.toString(), false, begins));
      word.setLength(0);
      inWord = false;
    }
  }

  private void escape(boolean quoted) {
    step();
    if (at == text.length()) {
      return;
    }
    char c = text.charAt(at);
    if (c == '\n') {
      if (quoted) {
        append(' ');
      }
    } else {
      if (quoted && "$`\"\\".indexOf(c) < 0) {
        append('\\');
      }
      append(c == '$' ? PLAIN_DOLLAR : c);
    }
    step();
  }

  private void single() {
    begin();
    step();
    while (at < text.length() && text.charAt(at) != '\'') {
      char c = text.charAt(at);
      append(c == '$' ? PLAIN_DOLLAR : c);
      step();
    }
    if (at < text.length()) {
      step();
    }
  }

  private void twice() {
    begin();
    step();
    while (at < text.length() && text.charAt(at) != '"') {
      if (text.charAt(at) == '\\') {
        escape(true);
      } else if (text.charAt(at) == '$') {
        expansion();
      } else {
        append(text.charAt(at));
        step();
      }
    }
    if (at < text.length()) {
      step();
    }
  }

  /** {@code $NAME}, or up to the bracket that closes <code>${</code> or {@code $(}. */
  private void expansion() {
    append('$');
    step();
    if (at == text.length() || "({".indexOf(text.charAt(at)) < 0) {
      return;
    }
    int depth = 0;
    do {
      char c = text.charAt(at);
      depth += "({".indexOf(c) >= 0 ? 1 : ")}".indexOf(c) >= 0 ? -1 : 0;
      append(c);
      step();
    } while (depth > 0 && at < text.length());
  }

  private void skipLine() {
    while (at < text.length() && text.charAt(at) != '\n') {
      at++;
    }
  }
}

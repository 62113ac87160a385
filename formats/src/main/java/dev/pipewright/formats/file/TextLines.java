package dev.pipewright.formats.file;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a UTF-8 text file with their numbers. A file that is not text is found out at its
 * first wrong character, whatever its size.
 */
public final class TextLines implements AutoCloseable {
  public static final int LONGEST_LINE = 1_000_000;
  private static final int MOST_BYTES = 1 << 26; // of a file: a second or two of work
  private static final char BYTE_ORDER_MARK = '\uFEFF';
  private static final char NOT_UTF8 = '\uFFFD';

  private final Path file;
  private final String kind;
  private final int longest;
  private final boolean log;
  private final BufferedReader reader;
  private final StringBuilder line = new StringBuilder(160);
  private int number;

  private TextLines(Path file, String kind, int longest, boolean log) {
    this.file = file;
    this.kind = kind;
    this.longest = longest;
    this.log = log;
    this.reader =
        new BufferedReader(
            new InputStreamReader(
                new ShortInput(InputFile.open(file), file, MOST_BYTES), StandardCharsets.UTF_8));
  }

  /** {@code kind} is what the file should be: {@code a graph text file}. */
  public static TextLines open(Path file, String kind) {
    return open(file, kind, LONGEST_LINE);
  }

  /** Lines of so many characters at most. */
  public static TextLines open(Path file, String kind, int longest) {
    return new TextLines(file, kind, longest, false);
  }

  /** Lines of a terminal's log, which may hold control characters other than NUL. */
  public static TextLines openLog(Path file, String kind) {
    return new TextLines(file, kind, LONGEST_LINE, true);
  }

  /** All lines of a terminal's log. */
  public static List<String> ofLog(Path file, String kind) {
    List<String> all = new ArrayList<>();
    try (TextLines lines = openLog(file, kind)) {
      for (String line = lines.next(); line != null; line = lines.next()) {
        all.add(line);
      }
    }
    return all;
  }

  /** Throws {@link BadInputException} at the first line that is not text. */
  public static void check(Path file, String kind) {
    try (TextLines lines = open(file, kind)) {
      while (lines.next() != null) {
        // until it throws
      }
    }
  }

  /** A word as a number, or null. */
  public static @Nullable Double number(String word) {
    try {
      return Double.valueOf(word);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** The number of the line that {@link #next} returned last, from 1. */
  public int number() {
    return number;
  }

  /** The next line without its end; null after the last. */
  public @Nullable String next() {
    try {
      return read();
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  private @Nullable String read() throws IOException {
    int c = reader.read();
    if (c < 0) {
      return null;
    }
    number++;
    line.setLength(0);
    for (; c >= 0 && c != '\n'; c = reader.read()) {
      append((char) c);
    }
    return line.toString();
  }

  private void append(char c) {
    if (c == NOT_UTF8 || (Character.isISOControl(c) && !isAllowed(c))) {
      throw BadInputException.at(
          file, number, "is not " + kind + "; the file holds bytes that are not text");
    }
    if (line.length() >= longest) {
      throw BadInputException.at(
          file,
          number,
          String.format(
              Locale.ROOT, "is not %s; the line is longer than %,d characters", kind, longest));
    }
    if (c != '\r' && c != BYTE_ORDER_MARK) {
      line.append(c);
    }
  }

  private boolean isAllowed(char control) {
    return log ? control != 0 : control == '\t' || control == '\r';
  }

  @Override
  public void close() {
    try {
      reader.close();
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }
}

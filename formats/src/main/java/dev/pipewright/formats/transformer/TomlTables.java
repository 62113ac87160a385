package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Plain values of a TOML file by table and key: {@code model.name}. Inline tables, dates and texts
 * over several lines are passed over; lists are kept as text. A key that stands twice is a mistake.
 * Of the language of <a href="https://toml.io/en/v1.0.0">TOML 1.0</a> that is what torchtitan's
 * files say of a network.
 */
public final class TomlTables {
  private static final Pattern TABLE =
      Pattern.compile("\\[\\[?\\s*([A-Za-z0-9_.\"' -]+?)\\s*\\]?\\]\\s*(#.*)?");
  private static final Pattern PAIR =
      Pattern.compile("([A-Za-z0-9_-]+(?:\\s*\\.\\s*[A-Za-z0-9_-]+)*)\\s*=\\s*(.*)");
  private static final Pattern VALUE =
      Pattern.compile("(?:\"([^\"\\\\]*)\"|'([^']*)'|([^\"'#\\s\\[{]+))\\s*(?:#.*)?");

  /** A value and its line, from 1. */
  public record Entry(String text, int line) {}

  private final Path file;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final Map<String, Entry> lists = new LinkedHashMap<>();

  private TomlTables(Path file) {
    this.file = file;
  }

  /** Throws {@link BadInputException} at a line that is no TOML. */
  public static TomlTables read(Path file) {
    TomlTables tables = new TomlTables(file);
    try (TextLines lines = TextLines.open(file, "a TOML file")) {
      String table = "";
      for (@Nullable String line = lines.next(); line != null; line = lines.next()) {
        String text = line.strip();
        Matcher heading = TABLE.matcher(text);
        Matcher pair = PAIR.matcher(text);
        if (heading.matches()) {
          table = heading.group(1) + ".";
        } else if (pair.matches()) {
          tables.add(table + pair.group(1).replaceAll("\\s", ""), pair.group(2), lines);
        } else if (!text.isEmpty() && !text.startsWith("#")) {
          throw BadInputException.at(
              file,
              lines.number(),
              "\"%s\" is no line of TOML; write [table] or key = value"
                  .formatted(ShownText.of(text)));
        }
      }
    }
    return tables;
  }

  private void add(String key, String value, TextLines lines) {
    int line = lines.number();
    Matcher plain = VALUE.matcher(value);
    if (plain.matches()) {
      String text = plain.group(1);
      text = text == null ? plain.group(2) : text;
      Entry entry = new Entry(text == null ? plain.group(3) : text, line);
      Entry before = entries.putIfAbsent(key, entry);
      if (before != null) {
        throw BadInputException.at(
            file,
            line,
            "the key %s stands twice, first in line %d; keep one"
                .formatted(ShownText.of(key), before.line));
      }
    } else {
      StringBuilder whole = new StringBuilder();
      pass(value, lines, whole);
      if (value.startsWith("[")) {
        lists.put(key, new Entry(whole.toString(), line));
      }
    }
  }

  /** The text of a list, without comments, as the file writes it; empty where there is none. */
  public Optional<Entry> list(String key) {
    return Optional.ofNullable(lists.get(key));
  }

  /** Reads on to the end of a list, an inline table or a text over several lines. */
  private void pass(String value, TextLines lines, StringBuilder whole) {
    int first = lines.number();
    String rest = value;
    @Nullable String quotes = null; // of a text over several lines
    int depth = 0;
    while (true) {
      int at = 0;
      int end = rest.length(); // of what is no comment
      while (at < rest.length()) {
        String found = quotes == null ? opening(rest, at) : quotes;
        if (quotes != null) {
          int closing = rest.indexOf(quotes, at);
          at = closing < 0 ? rest.length() : closing + quotes.length();
          quotes = closing < 0 ? quotes : null;
        } else if (!found.isEmpty()) {
          quotes = found;
          at += found.length();
        } else if (rest.charAt(at) == '#') {
          end = at;
          at = rest.length();
        } else {
          depth += "[{".indexOf(rest.charAt(at)) >= 0 ? 1 : 0;
          depth -= "]}".indexOf(rest.charAt(at)) >= 0 ? 1 : 0;
          at++;
        }
      }
      whole.append(rest, 0, end).append('\n');
      quotes = quotes != null && quotes.length() == 1 ? null : quotes;
      if (depth <= 0 && quotes == null) {
        return;
      }
      @Nullable String next = lines.next();
      if (next == null) {
        throw BadInputException.at(file, first, "the value does not end; close it");
      }
      rest = next;
    }
  }

  private static String opening(String text, int at) {
    for (String quotes : new String[] {"\"\"\"", "'''", "\"", "'"}) {
      if (text.startsWith(quotes, at)) {
        return quotes;
      }
    }
    return "";
  }

  /** A plain value; empty where the file has none of that key. */
  public Optional<Entry> value(String key) {
    return Optional.ofNullable(entries.get(key));
  }

  /** The value; its absence is a mistake. */
  public Entry required(String key) {
    return value(key)
        .orElseThrow(
            () -> BadInputException.at(file, 1, "the key %s is missing; add it".formatted(key)));
  }
}

package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.ShownText;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Variables that a script assigns literally, and values that are written with them: {@code $NAME},
 * <code>${NAME}</code>, <code>${NAME:-usual}</code> and {@code $((…))} with whole numbers. Other
 * expansions are refused by name.
 */
final class ShellVariables {
  private static final Pattern EXPANSION =
      Pattern.compile(
          "\\$\\(\\(((?:[^$()]|\\((?:[^$()]|\\([^$()]*+\\))*+\\))*+)\\)\\)|\\$\\{([A-Za-z_]\\w*)(:?-([^$}]*))?\\}|\\$([A-Za-z_]\\w*)");
  private static final int MOST_EXPANSIONS = 1000;
  private static final int LONGEST = 10_000;

  private final Map<String, String> values = new HashMap<>();
  private final Set<String> ambiguous = new HashSet<>();
  private int expansions;

  void assign(String name, String value) {
    String before = values.putIfAbsent(name, value);
    if (before != null && !before.equals(value)) {
      ambiguous.add(name);
    }
  }

  /**
   * A value without expansions.
   *
   * @throws IllegalArgumentException naming what cannot be known without running the script
   */
  String expand(String text) {
    expansions = 0;
    String expanded = expand(text, new HashSet<>());
    return expanded.replace(ShellWords.PLAIN_DOLLAR, '$');
  }

  private String expand(String text, Set<String> within) {
    String current = text;
    for (Matcher matcher = EXPANSION.matcher(current);
        matcher.find();
        matcher = EXPANSION.matcher(current)) {
      if (++expansions > MOST_EXPANSIONS || current.length() > LONGEST) {
        throw new IllegalArgumentException("has too many expansions; write the value");
      }
      current =
          current.substring(0, matcher.start())
              + replacement(matcher, within)
              + current.substring(matcher.end());
    }
    if (current.contains("$") || current.contains("`")) {
      throw new IllegalArgumentException(
          "is %s, which only a shell can tell; write the value".formatted(ShownText.of(current)));
    }
    return current;
  }

  private String replacement(Matcher matcher, Set<String> within) {
    if (matcher.group(1) != null) {
      return Long.toString(new Arithmetic(matcher.group(1), within).value());
    }
    String name = matcher.group(2) == null ? matcher.group(5) : matcher.group(2);
    return value(name, matcher.group(4), within);
  }

  private String value(
      String name, @org.jspecify.annotations.Nullable String usual, Set<String> within) {
    String value = within.contains(name) ? null : values.get(name);
    if (value == null && usual == null) {
      throw new IllegalArgumentException(
          "is written with $%s, which the file does not assign; write the value".formatted(name));
    }
    if (value == null) {
      return String.valueOf(usual).replaceAll("^([\"'])(.*)\\1$", "$2");
    }
    if (ambiguous.contains(name)) {
      throw new IllegalArgumentException(
          "is written with $%s, which the file assigns twice; write the value".formatted(name));
    }
    Set<String> inner = new HashSet<>(within);
    inner.add(name);
    return expand(value, inner);
  }

  /** Whole numbers with + − * / % and parentheses; names are variables. */
  private final class Arithmetic {
    private final String text;
    private final Set<String> within;
    private int at;
    private int depth;

    Arithmetic(String text, Set<String> within) {
      this.text = text.replaceAll("\\s", "");
      this.within = within;
    }

    long value() {
      long value = sum();
      if (at < text.length()) {
        throw unknown();
      }
      return value;
    }

    private IllegalArgumentException unknown() {
      return new IllegalArgumentException(
          "is $((%s)), which is not understood; write the value".formatted(ShownText.of(text)));
    }

    private boolean takes(char letter) {
      boolean next = at < text.length() && text.charAt(at) == letter;
      at += next ? 1 : 0;
      return next;
    }

    private long sum() {
      long value = product();
      while (true) {
        if (takes('+')) {
          value = Math.addExact(value, product());
        } else if (takes('-')) {
          value = Math.subtractExact(value, product());
        } else {
          return value;
        }
      }
    }

    private long product() {
      long value = atom();
      while (true) {
        if (takes('*')) {
          value = Math.multiplyExact(value, atom());
        } else if (takes('/')) {
          value = divided(value, atom(), false);
        } else if (takes('%')) {
          value = divided(value, atom(), true);
        } else {
          return value;
        }
      }
    }

    private long divided(long value, long by, boolean rest) {
      if (by == 0) {
        throw unknown();
      }
      return rest ? value % by : value / by;
    }

    private long atom() {
      if (++depth > 1000) {
        throw unknown();
      }
      if (takes('(')) {
        long value = sum();
        if (!takes(')')) {
          throw unknown();
        }
        return value;
      }
      int start = at;
      while (at < text.length() && isWord(text.charAt(at))) {
        at++;
      }
      String word = text.substring(start, at);
      String number = word.isEmpty() || Character.isDigit(word.charAt(0)) ? word : variable(word);
      if (!number.matches("\\d{1,18}")) {
        throw unknown();
      }
      return Long.parseLong(number);
    }

    private String variable(String name) {
      return ShellVariables.this.value(name, null, within);
    }

    private boolean isWord(char c) {
      return Character.isLetterOrDigit(c) || c == '_';
    }
  }
}

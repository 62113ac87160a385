package dev.pipewright.formats.cluster;

import dev.pipewright.formats.cluster.NcclRow.Half;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The headings of a table of nccl-tests, and so the grammar of its rows: size, count, type and
 * others first, then {@code time algbw busbw #wrong} once or twice. Which of the others there are
 * depends on the version and the test; {@code -S 1} adds a time stamp, which {@link
 * LogLine#rowWords} takes out, {@code -C 1} writes {@code cputime} for {@code time}. Versions
 * before 2.13 have the largest error under {@code error} (or {@code res}) in place of {@code
 * #wrong}; what is too large of it depends on the type, and only the line below the table says so.
 */
final class NcclColumns {
  private static final Pattern WHOLE = Pattern.compile("\\d{1,19}");
  private static final Pattern ROOT = Pattern.compile("-?\\d{1,9}");
  private static final Pattern NAME = Pattern.compile("[A-Za-z]\\w*");
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?|-?nan|-?inf|N/A");
  static final String OF_PROCESSOR =
      "these are times that the processor takes to start the collective (-C 1)";
  static final String WITHOUT_C = "run without -C 1";

  private static final Set<String> TIMES = Set.of("time", "cputime");
  private static final Set<String> WRONG = Set.of("#wrong", "wrong");

  private final List<String> names;
  private final List<Integer> halves = new ArrayList<>(); // where each begins
  private final int line;

  /** {@code headings} are the words from {@code size} on. */
  private NcclColumns(int line, List<String> headings) {
    this.line = line;
    names = headings.stream().filter(name -> !name.equals("timestamp")).toList();
    for (int i = 0; i < names.size(); i++) {
      if (TIMES.contains(names.get(i))) {
        halves.add(i);
      }
    }
  }

  static NcclColumns of(LogLine heading) {
    List<String> words = heading.words();
    int first = 0;
    while (first < words.size() - 1 && !isSize(words.get(first))) {
      first++;
    }
    List<String> headings = new ArrayList<>(words.subList(first, words.size()));
    headings.set(0, "size");
    return new NcclColumns(heading.number(), headings);
  }

  private static boolean isSize(String word) {
    return word.matches("#?(?:size|bytes)");
  }

  /** The line of the headings. */
  int line() {
    return line;
  }

  boolean haveTimes() {
    return !halves.isEmpty();
  }

  /** Whether the times are those that a processor needs to start the collective. */
  boolean areOfTheProcessor() {
    return names.contains("cputime");
  }

  int count() {
    return names.size();
  }

  /** Whether the words may stand under the headings from {@code first} on. */
  boolean fit(int first, List<String> words) {
    if (first + words.size() > names.size()) {
      return false;
    }
    for (int i = 0; i < words.size(); i++) {
      if (!grammar(names.get(first + i)).matcher(words.get(i)).matches()) {
        return false;
      }
    }
    return true;
  }

  private static Pattern grammar(String column) {
    return switch (column) {
      case "size", "count", "N" -> WHOLE;
      case "type", "redop", "op" -> NAME;
      case "root" -> ROOT;
      default -> NUMBER;
    };
  }

  /** Whether it looks like a row of this table, be it damaged: size, count and type fit. */
  boolean looksLikeRow(List<String> words) {
    int own = Math.min(3, halves.isEmpty() ? names.size() : halves.get(0));
    return words.size() >= own && fit(0, words.subList(0, own));
  }

  /** Whether so many words are a row with at least one time. */
  boolean isComplete(int words) {
    return words == names.size() || (halves.size() > 1 && words == halves.get(1));
  }

  /** A row of words that fit and are complete. */
  NcclRow row(int line, List<String> words) {
    List<Half> measured = new ArrayList<>();
    for (int half = 0; half < halves.size() && halves.get(half) < words.size(); half++) {
      int first = halves.get(half);
      int end = half + 1 < halves.size() ? halves.get(half + 1) : words.size();
      String place =
          words.size() < names.size() || halves.size() < 2
              ? ""
              : half == 0 ? " out of place" : " in place";
      List<String> own = names.subList(first, end);
      List<String> values = words.subList(first, end);
      measured.add(
          new Half(
              place,
              number(values.get(0)),
              values.get(0),
              number(value(own, values, "algbw", "nan")),
              number(value(own, values, "busbw", "nan")),
              wrong(own, values)));
    }
    return new NcclRow(
        line,
        number(words.get(0)),
        value(names, words, "redop", value(names, words, "op", "none")),
        number(value(names, words, "root", "-1")),
        measured);
  }

  private static String value(List<String> names, List<String> words, String column, String other) {
    int place = names.indexOf(column);
    return place < 0 ? other : words.get(place);
  }

  private static double wrong(List<String> own, List<String> values) {
    for (int i = 0; i < own.size(); i++) {
      if (WRONG.contains(own.get(i))) {
        double wrong = number(values.get(i));
        return values.get(i).equals("N/A") ? 0 : wrong;
      }
    }
    return 0;
  }

  /** NaN where nothing was measured. */
  private static double number(String word) {
    return word.endsWith("nan") || word.endsWith("inf") || word.equals("N/A")
        ? Double.NaN
        : Double.parseDouble(word);
  }
}

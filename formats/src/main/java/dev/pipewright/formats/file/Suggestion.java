package dev.pipewright.formats.file;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Words for a user who wrote a name that is not known. */
public final class Suggestion {
  private static final int MOST = 4;

  private Suggestion() {}

  /** {@code did you mean "plan"?}, where a known name is near. */
  public static Optional<String> near(String word, Collection<String> known) {
    String hint = word.isEmpty() ? "" : Nearest.hint(word, known);
    return hint.startsWith("did you mean") ? Optional.of(hint) : Optional.empty();
  }

  /** The near name, or else all of them. */
  public static String of(String word, Collection<String> known) {
    return near(word, known).orElse("one of " + String.join(", ", known));
  }

  /**
   * Known names that share a meaningful part with a word, the best first: {@code 8xH100} has {@code
   * h100} in common with {@code dgx-h100}. At most {@value #MOST}.
   */
  public static List<String> alike(String word, Collection<String> known) {
    String given = plain(word);
    return known.stream()
        .filter(name -> common(given, name) >= 2)
        .sorted((a, b) -> Integer.compare(common(given, b), common(given, a)))
        .limit(MOST)
        .toList();
  }

  /** Letters and digits only. */
  private static String plain(String word) {
    return word.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  /** How many letters of a name a word contains, part by part; twice as many the other way. */
  private static int common(String given, String name) {
    if (given.length() >= 2 && plain(name).contains(given)) {
      return 2 * given.length();
    }
    return Arrays.stream(name.toLowerCase(Locale.ROOT).split("[^a-z0-9]+"))
        .filter(part -> part.length() >= 2 && Character.isLetter(part.charAt(0)))
        .filter(given::contains)
        .mapToInt(String::length)
        .sum();
  }
}

package dev.pipewright.formats.file;

import java.util.Collection;

/** Guesses which word was meant. */
public final class Nearest {
  private Nearest() {}

  /**
   * The known word that takes the fewest single-letter edits, as a question; or all known words.
   */
  public static String hint(String word, Collection<String> known) {
    String nearest = "";
    int fewest = Integer.MAX_VALUE;
    for (String candidate : known) {
      int edits = edits(word, candidate);
      if (edits < fewest) {
        fewest = edits;
        nearest = candidate;
      }
    }
    if (known.isEmpty()) {
      return "none is known here";
    }
    boolean plausible =
        fewest <= Math.max(2, nearest.length() / 2)
            || word.startsWith(nearest)
            || nearest.startsWith(word);
    return plausible
        ? "did you mean \"" + nearest + "\"?"
        : "known here: " + String.join(", ", known);
  }

  /** V. Levenshtein's distance, one row at a time; O(lengths multiplied). */
  public static int edits(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}

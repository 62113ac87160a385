package dev.pipewright.formats.cluster;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A line of a log that is not blank.
 *
 * @param number from 1
 * @param text as it stands in the file, without terminal escapes
 * @param prefix what a launcher or a log viewer put in front of {@code body}; may be empty
 * @param body what the program printed
 */
record LogLine(int number, String text, String prefix, String body) {
  private static final Pattern BLANK = Pattern.compile("\\s+");

  /** The words of the body. */
  List<String> words() {
    return words(body);
  }

  /**
   * The words of a row of a table. Some launchers repeat their prefix in front of each piece that
   * the program printed of the row, so it is taken out everywhere.
   */
  List<String> rowWords() {
    String row = LogLines.STAMP.matcher(body).replaceAll(" ");
    String repeated = LogLines.STAMP.matcher(prefix).replaceAll("").strip();
    if (!repeated.isEmpty()) {
      row = row.replace(repeated, " ");
    }
    return words(LogLines.TAG.matcher(row).replaceAll(" "));
  }

  private static List<String> words(String text) {
    return List.of(BLANK.split(text.strip(), -1));
  }
}

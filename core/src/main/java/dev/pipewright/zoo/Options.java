package dev.pipewright.zoo;

import dev.pipewright.units.Check;

/** The {@code key=value,…} part of a model's name; values are whole numbers ≥ 1. */
final class Options {
  private static final int MOST = 1_000_000;

  private Options() {}

  /**
   * The values in the order of {@code keys}; what the text leaves out is as in {@code defaults}.
   *
   * @param name the whole name, for messages
   * @throws IllegalArgumentException naming the word that is wrong and what would be right
   */
  static int[] parse(String name, String text, String[] keys, int[] defaults) {
    int[] values = defaults.clone();
    for (String option : text.split(",", -1)) {
      int equals = option.indexOf('=');
      String key = equals < 0 ? option : option.substring(0, equals);
      int place = place(key, keys);
      Check.that(
          place >= 0 && equals >= 0,
          "%s: '%s' is not understood; write key=number with a key of %s",
          name,
          option,
          String.join(", ", keys));
      values[place] = number(name, key, option.substring(equals + 1));
    }
    return values;
  }

  /** Whether the text is digits only. */
  static boolean isNumber(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return !text.isEmpty();
  }

  static int number(String name, String key, String text) {
    int value = isNumber(text) && text.length() <= 7 ? Integer.parseInt(text) : 0;
    Check.that(
        value >= 1 && value <= MOST,
        "%s: %s=%s makes no sense; write a whole number from 1 to %d",
        name,
        key,
        text,
        MOST);
    return value;
  }

  private static int place(String key, String[] keys) {
    for (int i = 0; i < keys.length; i++) {
      if (keys[i].equals(key)) {
        return i;
      }
    }
    return -1;
  }
}

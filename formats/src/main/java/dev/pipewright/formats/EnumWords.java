package dev.pipewright.formats;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** How files spell the values of an enum: in small letters. */
final class EnumWords {
  private EnumWords() {}

  static <E extends Enum<E>> Map<String, E> of(E[] values) {
    Map<String, E> words = new LinkedHashMap<>();
    for (E value : values) {
      words.put(word(value), value);
    }
    return words;
  }

  static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}

package dev.pipewright.formats.file;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** How files spell the values of an enum: in small letters. */
public final class EnumWords {
  private EnumWords() {}

  public static <E extends Enum<E>> Map<String, E> of(E[] values) {
    Map<String, E> words = new LinkedHashMap<>();
    for (E value : values) {
      words.put(word(value), value);
    }
    return words;
  }

  public static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}

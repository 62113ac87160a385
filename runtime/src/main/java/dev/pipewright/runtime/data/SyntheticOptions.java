package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Reads the options after {@code synthetic:}. */
final class SyntheticOptions {
  private static final List<String> KEYS = List.of("samples", "classes", "seed");
  private static final long USUAL_SAMPLES = 10_000;
  private static final long MOST = 1_000_000_000_000L;

  private final String text;
  private final Set<String> seen = new HashSet<>();
  private Optional<SyntheticKind> kind = Optional.empty();
  private long samples = USUAL_SAMPLES;
  private OptionalInt classes = OptionalInt.empty();
  private long seed = 1;

  private SyntheticOptions(String text) {
    this.text = text;
  }

  static DatasetSpec.Synthetic parse(String text, String options) {
    SyntheticOptions parsed = new SyntheticOptions(text);
    String[] words = options.split(",", -1);
    for (int i = 0; i < words.length; i++) {
      if (i == 0 && !words[0].contains("=")) {
        parsed.readKind(words[0]);
      } else {
        parsed.readOption(words[i]);
      }
    }
    return new DatasetSpec.Synthetic(
        text, parsed.kind, parsed.samples, parsed.classes, parsed.seed);
  }

  private BadInputException wrong(String sentence) {
    return new BadInputException("--data " + text + ": " + sentence);
  }

  private void readKind(String word) {
    kind = SyntheticKind.named(word);
    if (kind.isEmpty() && !word.isEmpty()) {
      throw wrong("unknown '" + word + "'; write one of images, tokens, volumes, pairs");
    }
  }

  private void readOption(String option) {
    int equals = option.indexOf('=');
    String key = equals < 0 ? option : option.substring(0, equals);
    if (equals < 0 || !KEYS.contains(key)) {
      throw wrong(
          "'"
              + option
              + "' is not understood; write key=number with a key of samples, classes,"
              + " seed");
    }
    if (!seen.add(key)) {
      throw wrong(key + " stands twice; keep one");
    }
    String value = option.substring(equals + 1);
    switch (key) {
      case "samples" -> samples = number(key, value, 1, MOST);
      case "classes" -> classes = OptionalInt.of((int) number(key, value, 1, 1_000_000));
      default -> seed = number(key, value, 0, Long.MAX_VALUE);
    }
  }

  private long number(String key, String value, long least, long most) {
    long number = -1;
    try {
      number = Long.parseLong(value);
    } catch (NumberFormatException e) {
      // said below
    }
    if (number < least || number > most) {
      throw wrong(
          key
              + "="
              + value
              + " makes no sense; write a whole number from "
              + least
              + " to "
              + most);
    }
    return number;
  }
}

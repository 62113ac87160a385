package dev.pipewright.runtime.data;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Data that we make. */
public enum SyntheticKind {
  /** Noisy images of classes. */
  IMAGES,
  /** Sequences in which a token says much about the next. */
  TOKENS,
  /** Random fields and the numbers that they were made with. */
  VOLUMES,
  /** Sentences and their translations. */
  PAIRS;

  /** How users write it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Optional<SyntheticKind> named(String word) {
    return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
  }

  /** The kind that suits a network. */
  public static Optional<SyntheticKind> of(DatasetRequirements wanted) {
    long fields =
        wanted.inputs().stream().filter(DatasetRequirements.Input.Field.class::isInstance).count();
    int inputs = wanted.inputs().size();
    return switch (wanted.answer()) {
      case DatasetRequirements.Answer.Classes classes when inputs == 1 && fields == 1 ->
          Optional.of(IMAGES);
      case DatasetRequirements.Answer.Classes classes when inputs == 1 -> Optional.of(TOKENS);
      case DatasetRequirements.Answer.Quantities quantities when inputs == 1 && fields == 1 ->
          Optional.of(VOLUMES);
      case DatasetRequirements.Answer.Tokens tokens when inputs == 1 && fields == 0 ->
          Optional.of(TOKENS);
      case DatasetRequirements.Answer.Tokens tokens when inputs == 2 && fields == 0 ->
          Optional.of(PAIRS);
      default -> Optional.empty();
    };
  }
}

package dev.pipewright.app.cli;

import dev.pipewright.formats.Nearest;
import java.util.Collection;
import java.util.Optional;

/** Words for a user who wrote a name that is not known. */
final class Suggestion {
  private Suggestion() {}

  /** {@code did you mean "plan"?}, where a known name is near. */
  static Optional<String> near(String word, Collection<String> known) {
    String hint = word.isEmpty() ? "" : Nearest.hint(word, known);
    return hint.startsWith("did you mean") ? Optional.of(hint) : Optional.empty();
  }

  /** The near name, or else all of them. */
  static String of(String word, Collection<String> known) {
    return near(word, known).orElse("one of " + String.join(", ", known));
  }
}

package dev.pipewright.formats.export;

import dev.pipewright.formats.json.JsonText;
import java.util.List;
import java.util.stream.Collectors;

/** Values as Python writes them. */
final class PythonText {
  private PythonText() {}

  /** A text in double quotes. */
  static String quoted(String text) {
    return JsonText.quoted(text);
  }

  /** A list on one line. */
  static String list(List<?> elements) {
    return elements.stream().map(String::valueOf).collect(Collectors.joining(", ", "[", "]"));
  }

  /** A text that cannot end a docstring or escape from it. */
  static String inDocstring(String text) {
    return text.replaceAll("[^A-Za-z0-9 ,.:;=@+_/()-]", "?");
  }
}

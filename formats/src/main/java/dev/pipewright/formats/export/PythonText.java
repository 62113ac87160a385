package dev.pipewright.formats.export;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.plan.StagePlan;
import java.util.List;
import java.util.stream.Collectors;

/** Values as Python writes them. */
final class PythonText {
  private PythonText() {}

  /** A text in double quotes. */
  static String quoted(String text) {
    return JsonText.quoted(text);
  }

  static String of(boolean value) {
    return value ? "True" : "False";
  }

  /** A list on one line. */
  static String list(List<?> elements) {
    return elements.stream().map(String::valueOf).collect(Collectors.joining(", ", "[", "]"));
  }

  /** The constant {@code NAMES}: the chain's layers in order, those of a stage together. */
  static String names(ExportSubject exported) {
    StringBuilder text =
        new StringBuilder("NAMES = [  # of build_layers()' layers, in this order\n");
    for (int s = 0; s < exported.plan().stages().size(); s++) {
      StagePlan stage = exported.plan().stages().get(s);
      text.append("    # stage ").append(s).append('\n');
      for (int layer = stage.firstLayer(); layer <= stage.lastLayer(); layer++) {
        text.append("    ").append(quoted(exported.layers().get(layer))).append(",\n");
      }
    }
    return text.append("]\n").toString();
  }

  /** Sentences as comments of Python, shells, TOML and YAML, each ended by a newline. */
  static String comments(List<String> sentences) {
    return sentences.stream().map(each -> "# " + each + "\n").collect(Collectors.joining());
  }

  /** A text that cannot end a docstring or escape from it. */
  static String inDocstring(String text) {
    return text.replaceAll("[^A-Za-z0-9 ,.:;=@+_/()-]", "?");
  }
}

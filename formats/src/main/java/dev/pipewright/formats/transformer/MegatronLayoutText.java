package dev.pipewright.formats.transformer;

import dev.pipewright.formats.transformer.MegatronLayout.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes {@link MegatronLayout} in its shortest usual form: three equal stages and more as {@code
 * (tt|)*3}, three equal layers and more as {@code t*3}, a comma after a number that a layer
 * follows.
 */
public final class MegatronLayoutText {
  private static final int LEAST_REPEATED = 3;

  private MegatronLayoutText() {}

  /** The text that {@link MegatronLayout#parse} reads back equal. */
  public static String of(MegatronLayout layout) {
    List<String> stages = new ArrayList<>();
    layout.stages().forEach(stage -> stages.add(stage(stage)));
    StringBuilder text = new StringBuilder();
    int last = stages.size() - 1; // no bar follows it
    int next = 0;
    while (next < last) {
      int end = next;
      while (end < last && stages.get(end).equals(stages.get(next))) {
        end++;
      }
      boolean repeated = end - next >= LEAST_REPEATED && !stages.get(next).isEmpty();
      if (repeated) {
        append(text, "(" + stages.get(next) + "|)*" + (end - next));
        next = end;
      } else {
        append(text, stages.get(next) + "|");
        next++;
      }
    }
    append(text, stages.get(last));
    return text.toString();
  }

  private static String stage(List<Kind> layers) {
    StringBuilder text = new StringBuilder();
    int next = 0;
    while (next < layers.size()) {
      int end = next;
      while (end < layers.size() && layers.get(end) == layers.get(next)) {
        end++;
      }
      String letter = String.valueOf(layers.get(next).letter());
      int count = end - next;
      append(text, count >= LEAST_REPEATED ? letter + "*" + count : letter.repeat(count));
      next = end;
    }
    return text.toString();
  }

  private static void append(StringBuilder text, String part) {
    boolean number = text.length() > 0 && Character.isDigit(text.charAt(text.length() - 1));
    boolean comma = number && !part.isEmpty() && part.charAt(0) != '|';
    text.append(comma ? "," : "").append(part);
  }
}

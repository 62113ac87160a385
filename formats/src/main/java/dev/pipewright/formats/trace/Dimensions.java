package dev.pipewright.formats.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Shapes of an operator's inputs as the profiler records them: {@code [[8,16],[4,16],[4],[]]
 * [float,float,float,]}, of which scalars have an empty list.
 */
final class Dimensions {
  private Dimensions() {}

  /** The extents of each input. */
  static List<long[]> inputs(String text) {
    List<long[]> inputs = new ArrayList<>();
    int blank = text.indexOf(' ');
    String lists = blank < 0 ? text : text.substring(0, blank);
    int depth = 0;
    int from = 0;
    for (int i = 0; i < lists.length(); i++) {
      char c = lists.charAt(i);
      depth += c == '[' ? 1 : 0;
      if (c == '[' && depth == 2) {
        from = i + 1;
      }
      if (c == ']' && depth == 2) {
        inputs.add(extents(lists.substring(from, i)));
      }
      depth -= c == ']' ? 1 : 0;
    }
    return inputs;
  }

  private static long[] extents(String list) {
    return list.isEmpty() || list.indexOf('[') >= 0
        ? new long[0]
        : Arrays.stream(list.split(",", -1)).mapToLong(Dimensions::extent).toArray();
  }

  private static long extent(String word) {
    return word.matches("\\d{1,15}") ? Long.parseLong(word) : 0;
  }

  static long elements(long... extents) {
    return extents.length == 0 ? 0 : Arrays.stream(extents).reduce(1, (a, b) -> a * b);
  }

  /** The type of the first input. */
  static String type(String text) {
    int blank = text.indexOf(' ');
    return blank < 0 ? "" : text.substring(blank + 1).replaceAll("^\\[|,.*|]$", "");
  }

  /** Bytes of the first input; 0 where it has no shape. */
  static long bytes(String text) {
    List<long[]> inputs = inputs(text);
    return inputs.isEmpty() ? 0 : elements(inputs.get(0)) * ElementBytes.of(type(text));
  }
}

package dev.pipewright.server.whatif;

import java.util.List;

/**
 * Something that can be moved.
 *
 * @param name of the field
 * @param label in the page
 * @param words what each position is called
 * @param values what each position stands for
 * @param usual the position of the study itself
 */
public record Slider(
    String name, String label, List<String> words, List<Double> values, int usual) {
  public Slider {
    words = List.copyOf(words);
    values = List.copyOf(values);
  }

  /** The last position. */
  public int last() {
    return values.size() - 1;
  }

  /** A position that was sent; that of the study where it is none. */
  int position(String sent) {
    try {
      return Math.clamp(Integer.parseInt(sent), 0, last());
    } catch (NumberFormatException e) {
      return usual;
    }
  }

  double value(int position) {
    return values.get(position);
  }
}

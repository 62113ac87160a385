package dev.pipewright.plan;

import dev.pipewright.units.Check;

/**
 * Layers of a chain that follow each other.
 *
 * @param first position of the first
 * @param last position of the last, inclusive
 */
public record LayerRange(int first, int last) {
  public LayerRange {
    Check.that(
        0 <= first && first <= last, "a range runs from its first layer: [%d, %d]", first, last);
  }

  @Override
  public String toString() {
    return "[" + first + ", " + last + "]";
  }
}

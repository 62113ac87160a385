package dev.pipewright.model;

import dev.pipewright.units.Check;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The extents of a tensor for one sample, outermost first: channels, then depth, height, width; or
 * sequence, features.
 */
public record Shape(List<Integer> extents) {
  public Shape {
    extents = List.copyOf(extents);
    for (int extent : extents) {
      Check.that(extent >= 1, "extents must be >= 1: shape=%s", extents);
    }
  }

  public static Shape of(Integer... extents) {
    return new Shape(List.of(extents));
  }

  public int extent(int axis) {
    return extents.get(axis);
  }

  /** Elements of one sample; 1 for a scalar. */
  public long elements() {
    long product = 1;
    for (int extent : extents) {
      product = Math.multiplyExact(product, (long) extent);
    }
    return product;
  }

  @Override
  public String toString() {
    return extents.stream().map(String::valueOf).collect(Collectors.joining("×"));
  }
}

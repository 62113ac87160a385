package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Span;
import java.util.List;

/**
 * How the members of a tensor-parallel group cut a tensor.
 *
 * @param grid parts along each axis
 * @param first the axis of the tensor that the grid's first axis cuts; the others follow it
 * @param extents of the whole tensor along the axes that are cut
 */
record TensorCut(List<Integer> grid, int first, List<Long> extents) {
  TensorCut {
    grid = List.copyOf(grid);
    extents = List.copyOf(extents);
  }

  /** One axis, cut in as many parts as there are members. */
  static TensorCut of(TensorParallelGroup tensorGroup, int axis, long extent) {
    return new TensorCut(List.of(tensorGroup.parts()), axis, List.of(extent));
  }

  /** Samples × tokens, of which each member has some. */
  static TensorCut ofTokens(TensorParallelGroup tensorGroup, long samples, long tokens) {
    Parallelism split = tensorGroup.split();
    return split.sampleParts() > 1
        ? ofGrid(split, 0, List.of(samples, tokens))
        : of(tensorGroup, 1, tokens);
  }

  /** The axes from {@code first} on, in the order of the group's grid. */
  static TensorCut ofGrid(Parallelism split, int first, List<Long> extents) {
    return new TensorCut(split.grid(), first, extents);
  }

  /** The axis of the tensor that an axis of the grid cuts. */
  int axis(int axis) {
    return first + axis;
  }

  /** The positions of a member along an axis of the grid. */
  Span span(int axis, int[] place) {
    return Span.of(extents.get(axis), place[axis], grid.get(axis));
  }

  /** The shape of a member's part, from that of another. */
  long[] shape(long[] like, int[] place) {
    long[] shape = like.clone();
    for (int axis = 0; axis < grid.size(); axis++) {
      shape[axis(axis)] = span(axis, place).count();
    }
    return shape;
  }
}

package dev.pipewright.parallel;

import dev.pipewright.model.Operator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The windows through which an operator reads a map: lists hold one number for each spatial axis.
 */
public record Windows(
    List<Integer> kernel, List<Integer> stride, List<Integer> padding, List<Integer> dilation) {

  /** A convolution's or a pooling's; other operators have none. */
  public static Optional<Windows> of(Operator operator) {
    return switch (operator) {
      case Operator.Convolution c ->
          Optional.of(new Windows(c.kernel(), c.stride(), c.padding(), c.dilation()));
      case Operator.Pooling p ->
          Optional.of(
              new Windows(
                  p.kernel(), p.stride(), p.padding(), Collections.nCopies(p.kernel().size(), 1)));
      default -> Optional.empty();
    };
  }

  /** Positions in addition to its own that a window covers along an axis. */
  public int reach(int axis) {
    return dilation.get(axis) * (kernel.get(axis) - 1);
  }

  /** Extents of what comes out. */
  public List<Integer> places(List<Integer> in) {
    List<Integer> places = new ArrayList<>(in.size());
    for (int axis = 0; axis < in.size(); axis++) {
      places.add(places(axis, in.get(axis)));
    }
    return places;
  }

  private int places(int axis, int in) {
    return Math.floorDiv(in + 2 * padding.get(axis) - reach(axis) - 1, stride.get(axis)) + 1;
  }

  /** What the parts of an axis of so many rows need of each other. */
  public Halo halo(int axis, int rows, int parts) {
    return new Halo(
        rows,
        places(axis, rows),
        kernel.get(axis),
        stride.get(axis),
        padding.get(axis),
        dilation.get(axis),
        parts);
  }
}

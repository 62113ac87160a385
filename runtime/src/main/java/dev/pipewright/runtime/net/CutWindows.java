package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Halo;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Windows;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The windows of an operator over a map, of which each member of a group has a part: along each
 * axis that is cut, it first gets the rows that its windows reach over. Behind the first such axis
 * the rows of the corners are there, and go along with those of the next.
 */
final class CutWindows {
  private final TensorParallelGroup tensorGroup;
  private final List<Along> along = new ArrayList<>();
  private final long[] padding;

  /** An axis that is cut. */
  private record Along(int axis, Halo halo) {}

  private CutWindows(TensorParallelGroup tensorGroup, Windows windows) {
    this.tensorGroup = tensorGroup;
    this.padding = ConvolutionModule.array(windows.padding());
  }

  /** Windows over a map that is not cut. */
  static CutWindows whole(Windows windows) {
    return new CutWindows(TensorParallelGroup.ALONE, windows);
  }

  /**
   * Windows over a map that the group cuts.
   *
   * @param in extents of the whole map
   */
  static CutWindows of(TensorParallelGroup tensorGroup, Windows windows, List<Integer> in) {
    CutWindows cut = new CutWindows(tensorGroup, windows);
    Parallelism split = tensorGroup.split();
    for (int axis = 0; axis < in.size(); axis++) {
      if (split.grid().get(axis) > 1) {
        cut.padding[axis] = 0;
        cut.along.add(new Along(axis, windows.halo(axis, in.get(axis), split.grid().get(axis))));
      }
    }
    return cut;
  }

  /** What the windows read, with its padding where {@link #padding} has none. */
  Tensor read(Tensor input, double fill) {
    Tensor read = input;
    for (Along each : along) {
      read =
          new GroupCommunication(tensorGroup)
              .reached(read, each.axis() + 2, each.axis(), each.halo(), fill);
    }
    return read;
  }

  /** The padding that is still missing along each axis. */
  long[] padding() {
    return padding;
  }
}

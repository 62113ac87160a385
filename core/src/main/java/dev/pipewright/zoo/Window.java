package dev.pipewright.zoo;

import dev.pipewright.units.Check;
import java.util.Collections;
import java.util.List;

/**
 * The window that a convolution or a pooling slides over a map; each list holds one value per
 * spatial axis.
 *
 * <p>An axis of extent x becomes ⌊(x + 2·padding − dilation·(kernel − 1) − 1) / stride⌋ + 1 (V.
 * Dumoulin, F. Visin, <i>A guide to convolution arithmetic for deep learning</i>, 2016,
 * arXiv:1603.07285, relationship 15).
 */
record Window(
    List<Integer> kernel, List<Integer> stride, List<Integer> padding, List<Integer> dilation) {
  /** A kernel of these extents that moves by one and sees no padding. */
  static Window of(Integer... kernel) {
    int axes = kernel.length;
    return new Window(List.of(kernel), same(axes, 1), same(axes, 0), same(axes, 1));
  }

  static Window square(int kernel) {
    return of(kernel, kernel);
  }

  static Window cube(int kernel) {
    return of(kernel, kernel, kernel);
  }

  /** The window that covers a map of {@code extents} with one place. */
  static Window whole(List<Integer> extents) {
    int axes = extents.size();
    return new Window(extents, extents, same(axes, 0), same(axes, 1));
  }

  /** The same kernel, moved by {@code step} along every axis. */
  Window every(int step) {
    return new Window(kernel, same(axes(), step), padding, dilation);
  }

  /** With this much padding on both ends of every axis. */
  Window padded(int each) {
    return new Window(kernel, stride, same(axes(), each), dilation);
  }

  /** Padded by half of the kernel: an odd kernel that moves by one keeps the extents. */
  Window padded() {
    List<Integer> half = kernel.stream().map(extent -> extent / 2).toList();
    return new Window(kernel, stride, half, dilation);
  }

  /** With {@code spread − 1} elements left out between two of the kernel. */
  Window dilated(int spread) {
    return new Window(kernel, stride, padding, same(axes(), spread));
  }

  int axes() {
    return kernel.size();
  }

  /** Elements of the kernel for each channel. */
  long volume() {
    return kernel.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
  }

  /** How many places the window takes along an axis of {@code extent}. */
  int places(int axis, int extent) {
    int reach = dilation.get(axis) * (kernel.get(axis) - 1) + 1;
    int padded = extent + 2 * padding.get(axis);
    Check.that(
        reach <= padded,
        "the kernel is larger than its padded input: axis=%d, kernel=%d, dilation=%d, input=%d,"
            + " padding=%d",
        axis,
        kernel.get(axis),
        dilation.get(axis),
        extent,
        padding.get(axis));
    return (padded - reach) / stride.get(axis) + 1;
  }

  private static List<Integer> same(int axes, int value) {
    return Collections.nCopies(axes, value);
  }
}

package dev.pipewright.formats.paradl;

import java.util.Optional;

/**
 * How a kernel moves along one axis, found from the extents before and after it.
 *
 * @param padding on each side; where an even kernel of stride 1 is padded on one side only, on that
 *     side
 */
record SlidingWindow(int kernel, int stride, int padding) {
  /**
   * The smallest stride, with the smallest padding, that turn {@code in} into {@code out} = ⌊(in +
   * padding before and after − kernel) / stride⌋ + 1. Empty where the padding would be more than
   * half of the kernel, or where the kernel is larger than its input and less than half of the
   * input's extent comes out: a filter written for another input.
   */
  static Optional<SlidingWindow> between(int in, int kernel, int out) {
    int stride = Math.max(1, Math.floorDiv(in - kernel, out) + 1);
    int missing = Math.max(0, (out - 1) * stride + kernel - in);
    int padding = (missing + 1) / 2;
    boolean fits = kernel <= in || 2 * out >= in;
    return fits && padding <= kernel / 2
        ? Optional.of(new SlidingWindow(kernel, stride, padding))
        : Optional.empty();
  }
}

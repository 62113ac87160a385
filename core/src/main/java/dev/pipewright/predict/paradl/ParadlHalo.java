package dev.pipewright.predict.paradl;

import dev.pipewright.units.Check;

/**
 * How many rows of its neighbours a part of a split axis needs, exactly: from kernel, stride,
 * padding and dilation, for extents that need not divide. Never too few; too many only where a
 * window lies in the padding altogether, or for less than a dilation where one begins there.
 *
 * <p>Part {@code i} of an axis of {@code n} positions holds {@code [i·n/parts, (i+1)·n/parts)},
 * rounded down. An output row reads {@code reach + 1} input rows from {@code row · stride −
 * padding} on; in the backward pass an input row's gradient reads the gradients of all output rows
 * that read it.
 *
 * @param before rows from the neighbour before, of the part that needs most
 * @param after rows from the neighbour after, of the part that needs most
 */
record ParadlHalo(int before, int after) {
  static final ParadlHalo NONE = new ParadlHalo(0, 0);

  /** What the forward pass reads of x. */
  static ParadlHalo forward(int in, int out, int reach, int stride, int padding, int parts) {
    Check.that(
        parts <= in && parts <= out,
        "no part may be empty: parts=%d, in=%d, out=%d",
        parts,
        in,
        out);
    int before = 0;
    int after = 0;
    for (int part = 0; part < parts; part++) {
      int firstRead = start(out, part, parts) * stride - padding;
      int endRead = (start(out, part + 1, parts) - 1) * stride - padding + reach + 1;
      before = Math.max(before, start(in, part, parts) - Math.max(0, firstRead));
      after = Math.max(after, Math.min(in, endRead) - start(in, part + 1, parts));
    }
    return new ParadlHalo(before, after);
  }

  /** What the backward pass reads of dL/dy. */
  static ParadlHalo backward(int in, int out, int reach, int stride, int padding, int parts) {
    int before = 0;
    int after = 0;
    for (int part = 0; part < parts; part++) {
      int firstRow = start(in, part, parts);
      int lastRow = start(in, part + 1, parts) - 1;
      int firstReader = Math.max(0, Math.ceilDiv(firstRow + padding - reach, stride));
      int lastReader = Math.min(out - 1, Math.floorDiv(lastRow + padding, stride));
      before = Math.max(before, start(out, part, parts) - firstReader);
      after = Math.max(after, lastReader + 1 - start(out, part + 1, parts));
    }
    return new ParadlHalo(before, after);
  }

  /** The first position of a part. */
  static int start(int extent, int part, int parts) {
    return (int) ((long) extent * part / parts);
  }

  /** Positions of the largest part. */
  static int largest(int extent, int parts) {
    return Math.ceilDiv(extent, parts);
  }

  int rows() {
    return before + after;
  }
}

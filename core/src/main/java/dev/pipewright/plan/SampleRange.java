package dev.pipewright.plan;

import dev.pipewright.units.Check;

/**
 * Samples that follow each other in a batch.
 *
 * @param first counted from the beginning of the batch
 * @param count none is allowed
 */
public record SampleRange(int first, int count) {
  public SampleRange {
    Check.that(first >= 0 && count >= 0, "a slice is not negative: [%d, +%d)", first, count);
  }

  /** One of {@code parts} slices of it, as equal as whole samples allow; the later are larger. */
  public SampleRange part(int part, int parts) {
    int from = (int) ((long) count * part / parts);
    int to = (int) ((long) count * (part + 1) / parts);
    return new SampleRange(first + from, to - from);
  }

  /** What both have in common. */
  public SampleRange overlap(SampleRange that) {
    int from = Math.max(first, that.first);
    int to = Math.min(first + count, that.first + that.count);
    return new SampleRange(from, Math.max(0, to - from));
  }

  public boolean isEmpty() {
    return count == 0;
  }
}

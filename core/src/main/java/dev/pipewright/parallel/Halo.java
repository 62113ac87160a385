package dev.pipewright.parallel;

import dev.pipewright.units.Check;

/**
 * Which rows of an axis the parts of a map need of each other, exactly, for any window.
 *
 * <p>Part {@code i} of an axis of {@code n} rows holds {@code [i·n/parts, (i+1)·n/parts)}, rounded
 * down, of what a layer reads and of what it makes. A row that it makes reads {@code kernel} rows,
 * {@code dilation} apart, from {@code row · stride − padding} on; those outside of the map are
 * padding.
 *
 * @param in rows of what is read
 * @param out rows of what is made
 */
public record Halo(int in, int out, int kernel, int stride, int padding, int dilation, int parts) {
  public Halo {
    Check.that(
        1 <= parts && parts <= in && parts <= out,
        "no part may be empty: parts=%d, in=%d, out=%d",
        parts,
        in,
        out);
  }

  /** The rows that a part holds. */
  public Span owned(int part) {
    return Span.of(in, part, parts);
  }

  /** The rows that a part makes. */
  public Span made(int part) {
    return Span.of(out, part, parts);
  }

  /** Where the windows of a part begin; padding is counted in negative rows. */
  private long begin(int part) {
    return made(part).first() * stride - padding;
  }

  /** Where they end. */
  private long end(int part) {
    return (made(part).end() - 1) * stride - padding + (long) dilation * (kernel - 1) + 1;
  }

  /** The rows of the map that the windows of a part reach over. */
  public Span needed(int part) {
    long from = Math.clamp(begin(part), 0, in);
    return new Span(from, Math.max(0, Math.min(end(part), in) - from));
  }

  /** Rows of padding that they reach over before the map. */
  public long paddingBefore(int part) {
    return Math.max(0, Math.min(0, end(part)) - begin(part));
  }

  /** Likewise behind it. */
  public long paddingAfter(int part) {
    return Math.max(0, end(part) - Math.max(in, begin(part)));
  }

  /** The rows that one part needs of another, or of its own. */
  public Span lent(int owner, int to) {
    return owned(owner).overlap(needed(to));
  }

  /** Whether any part needs rows of another. */
  public boolean exchanges() {
    for (int owner = 0; owner < parts; owner++) {
      for (int to = 0; to < parts; to++) {
        if (owner != to && lent(owner, to).count() > 0) {
          return true;
        }
      }
    }
    return false;
  }
}

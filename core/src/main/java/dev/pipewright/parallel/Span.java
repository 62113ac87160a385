package dev.pipewright.parallel;

/**
 * Positions of an axis that follow each other.
 *
 * @param count none is allowed
 */
public record Span(long first, long count) {
  /** One of {@code parts} spans of an axis, as equal as whole positions allow; later are larger. */
  public static Span of(long extent, int part, int parts) {
    long from = extent * part / parts;
    return new Span(from, extent * (part + 1) / parts - from);
  }

  /** The first position behind it. */
  public long end() {
    return first + count;
  }

  /** What both have in common. */
  public Span overlap(Span that) {
    long from = Math.max(first, that.first);
    return new Span(from, Math.max(0, Math.min(end(), that.end()) - from));
  }
}

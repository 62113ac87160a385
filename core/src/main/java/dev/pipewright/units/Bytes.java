package dev.pipewright.units;

/** An amount of data, never negative. Sums that overflow throw. */
public record Bytes(long value) implements Comparable<Bytes> {
  public static final Bytes ZERO = new Bytes(0);

  public Bytes {
    Check.that(value >= 0, "bytes must be >= 0: bytes=%d", value);
  }

  public static Bytes gib(double n) {
    return of(n * 0x1p30);
  }

  /** The nearest whole number of bytes. */
  public static Bytes of(double value) {
    return new Bytes(Math.round(Check.amount(value, "bytes")));
  }

  public Bytes plus(Bytes that) {
    return new Bytes(Math.addExact(value, that.value));
  }

  /** How long this amount takes at {@code rate}. */
  public Seconds over(BytesPerSecond rate) {
    return new Seconds((double) value / rate.value());
  }

  @Override
  public int compareTo(Bytes that) {
    return Long.compare(value, that.value);
  }

  @Override
  public String toString() {
    return Units.binary((double) value, "B");
  }
}

package dev.pipewright.units;

/** A duration, finite and never negative. */
public record Seconds(double value) implements Comparable<Seconds> {
  public static final Seconds ZERO = new Seconds(0);

  public Seconds {
    Check.amount(value, "seconds");
  }

  public Seconds plus(Seconds that) {
    return new Seconds(value + that.value);
  }

  @Override
  public int compareTo(Seconds that) {
    return Double.compare(value, that.value);
  }

  @Override
  public String toString() {
    return Units.seconds(value);
  }
}

package dev.pipewright.units;

/** The rate of a link or of a memory, finite and positive. */
public record BytesPerSecond(double value) {
  public BytesPerSecond {
    Check.positive(value, "bytes per second");
  }

  @Override
  public String toString() {
    return Units.decimal(value, "B/s");
  }
}

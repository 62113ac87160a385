package dev.pipewright.units;

/** The arithmetic rate of a device, finite and positive. */
public record FlopsPerSecond(double value) {
  public FlopsPerSecond {
    Check.positive(value, "FLOP/s");
  }

  @Override
  public String toString() {
    return Units.decimal(value, "FLOP/s");
  }
}

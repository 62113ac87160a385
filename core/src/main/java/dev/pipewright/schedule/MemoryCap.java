package dev.pipewright.schedule;

import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The most that ranks may hold, in activations of a micro-batch and all that a rank has of a
 * network: chunks count as parts of one.
 *
 * @param values one for all ranks, or one for each; infinite where there is no cap
 */
public record MemoryCap(List<Double> values) {
  public static final MemoryCap NONE = of(Double.POSITIVE_INFINITY);

  private static final double ROUNDING = 1e-9; // of counts in parts of a stage

  public MemoryCap {
    values = List.copyOf(values);
    Check.that(!values.isEmpty(), "a cap is one for all ranks or one for each: caps=0");
    for (double cap : values) {
      Check.that(cap >= 1, "a rank must hold at least one activation: cap=%s", cap);
    }
  }

  /** The same for all ranks. */
  public static MemoryCap of(double each) {
    return new MemoryCap(List.of(each));
  }

  /** Whether it can be the cap of so many ranks. */
  public boolean isFor(int ranks) {
    return values.size() == 1 || values.size() == ranks;
  }

  /** Whether any rank has one. */
  public boolean isLimited() {
    return least() < Double.POSITIVE_INFINITY;
  }

  /** Whether no rank's differs from another's. */
  public boolean isEqual() {
    return values.stream().distinct().count() == 1;
  }

  public double least() {
    return Collections.min(values);
  }

  public double on(int rank) {
    return values.get(values.size() == 1 ? 0 : rank);
  }

  /** Of each of so many ranks. */
  public double[] each(int ranks) {
    Check.that(isFor(ranks), "one cap per rank: caps=%d, ranks=%d", values.size(), ranks);
    double[] each = new double[ranks];
    Arrays.setAll(each, this::on);
    return each;
  }

  /** Whether a rank that holds so much holds more than it may. */
  public boolean isExceeded(int rank, double held) {
    return held > on(rank) + ROUNDING;
  }
}

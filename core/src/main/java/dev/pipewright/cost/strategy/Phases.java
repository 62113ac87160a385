package dev.pipewright.cost.strategy;

import dev.pipewright.units.Check;
import java.util.Arrays;

/** Seconds of each phase of one iteration; the phases follow each other. */
public final class Phases {
  private final double[] seconds = new double[Phase.values().length];

  private Phases() {}

  /** Nothing yet. */
  public static Phases none() {
    return new Phases();
  }

  /** The same with so many more seconds of {@code phase}. */
  public Phases with(Phase phase, double more) {
    Check.amount(more, phase.label() + " seconds");
    Phases sum = new Phases();
    System.arraycopy(seconds, 0, sum.seconds, 0, seconds.length);
    sum.seconds[phase.ordinal()] += more;
    return sum;
  }

  public double seconds(Phase phase) {
    return seconds[phase.ordinal()];
  }

  /** Seconds of the iteration. */
  public double total() {
    return Arrays.stream(seconds).sum();
  }

  /** Seconds that the iteration communicates. */
  public double communication() {
    double sum = 0;
    for (Phase phase : Phase.values()) {
      sum += phase.communication() ? seconds(phase) : 0;
    }
    return sum;
  }

  /** Seconds that the iteration computes, or waits for others to compute. */
  public double compute() {
    return total() - communication();
  }

  @Override
  public String toString() {
    return Arrays.toString(seconds);
  }
}

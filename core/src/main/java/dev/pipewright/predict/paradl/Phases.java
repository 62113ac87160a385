package dev.pipewright.predict.paradl;

import dev.pipewright.units.Check;
import java.util.EnumMap;
import java.util.Map;

/** Seconds of each phase of one iteration; the phases follow each other. */
public final class Phases {
  private final Map<Phase, Double> seconds = new EnumMap<>(Phase.class);

  private Phases() {}

  /** Nothing yet. */
  public static Phases none() {
    return new Phases();
  }

  /** The same with so many more seconds of {@code phase}. */
  public Phases with(Phase phase, double more) {
    Check.amount(more, phase.label() + " seconds");
    Phases sum = new Phases();
    sum.seconds.putAll(seconds);
    sum.seconds.merge(phase, more, Double::sum);
    return sum;
  }

  public double seconds(Phase phase) {
    return seconds.getOrDefault(phase, 0.0);
  }

  /** Seconds of the iteration. */
  public double total() {
    double sum = 0;
    for (double some : seconds.values()) {
      sum += some;
    }
    return sum;
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
    return seconds.toString();
  }
}

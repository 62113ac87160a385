package dev.pipewright.api;

import dev.pipewright.planner.Planning.Candidate;
import java.util.List;

/**
 * The best plan that another program's files can say.
 *
 * @param planned the answer; where the program cannot train the network, that without restriction
 * @param free the answer of the same planner without restriction
 * @param cannotSay what the program cannot say of the best plan of {@code free}; none where it can
 *     say all, and so is the answer
 */
public record PlannedForTarget(Planned planned, Planned free, List<String> cannotSay) {
  public PlannedForTarget {
    cannotSay = List.copyOf(cannotSay);
  }

  /** Without a target. */
  public static PlannedForTarget of(Planned found) {
    return new PlannedForTarget(found, found, List.of());
  }

  /** Whether the search kept to what the program can say. */
  public boolean isRestricted() {
    return !planned.request().equals(free.request());
  }

  /** Seconds of a step of the best plan without restriction. */
  public double freeSeconds() {
    return seconds(free);
  }

  /** How much longer a step takes than that of the best plan without restriction, as a share. */
  public double cost() {
    return seconds(planned) / seconds(free) - 1;
  }

  private static double seconds(Planned one) {
    return one.planning().best().map(Candidate::seconds).orElse(Double.NaN);
  }
}

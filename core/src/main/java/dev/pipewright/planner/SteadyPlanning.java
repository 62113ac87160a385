package dev.pipewright.planner;

import dev.pipewright.planner.Planning.LowerBound;
import java.util.Optional;

/** What a planner of pipelines without flushes answers. */
public interface SteadyPlanning {
  /**
   * Seconds of a mini-batch in the steady state, by the planner's formula: what it makes small.
   * Infinite where nothing fits.
   */
  double seconds();

  /** No plan takes less. */
  LowerBound lowerBound();

  /** Whether nothing was left out because the search was ended early. */
  boolean complete();

  /** How much longer the plan may take than the best, as a share of the lower bound. */
  default double gap() {
    return lowerBound().gap(seconds());
  }

  /** Why nothing fits, and what would help; empty where there is a plan. */
  Optional<String> remedy();
}

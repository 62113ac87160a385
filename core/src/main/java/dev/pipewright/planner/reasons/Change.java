package dev.pipewright.planner.reasons;

import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.Optional;

/**
 * What the best plan would be on another cluster.
 *
 * @param words what differs, like {@code 10 % more memory}
 * @param best the best plan there; empty where nothing fits
 * @param chosenSeconds of a step on the cluster as it is
 */
public record Change(String words, Optional<Candidate> best, double chosenSeconds) {
  private static final double EQUAL = 0.005; // shares below it are not worth a word

  /** How much shorter the step is, as a share; negative where it is longer, 0 without a plan. */
  public double gain() {
    return best.map(plan -> 1 - plan.seconds() / chosenSeconds).orElse(0.0);
  }

  /** In words: the step and the plan there. */
  public String sentence() {
    if (best.isEmpty()) {
      return words + ": nothing fits";
    }
    Candidate plan = best.get();
    if (Math.abs(gain()) < EQUAL) {
      return words + " would change nothing";
    }
    return "%s: %s, %s, with %s"
        .formatted(
            words,
            Units.seconds(plan.seconds()),
            PlanWords.difference(-gain()),
            PlanWords.of(plan.plan()));
  }
}

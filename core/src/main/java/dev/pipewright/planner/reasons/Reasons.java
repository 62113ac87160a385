package dev.pipewright.planner.reasons;

import java.util.List;

/**
 * Why a plan is the best.
 *
 * @param comparisons with plans that people would write down by hand, or that a user gives
 * @param changes of the cluster and the best plans then
 */
public record Reasons(List<PlanComparison> comparisons, List<Change> changes) {
  /** None are known. */
  public static final Reasons NONE = new Reasons(List.of(), List.of());

  public Reasons {
    comparisons = List.copyOf(comparisons);
    changes = List.copyOf(changes);
  }
}

package dev.pipewright.planner.catalog;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.SteadyPlanning;
import dev.pipewright.planner.SteadyRequest;
import java.util.function.BooleanSupplier;

/**
 * Plans pipelines without flushes, for their steady state.
 *
 * @param levels whether it knows a cluster as levels of equal groups only
 * @param quadratic whether its work grows with the square of the number of layers
 * @param search how it plans
 */
public record SteadyPlanner(boolean levels, boolean quadratic, Search search)
    implements PlannerMethod {
  /** How a planner plans. */
  @FunctionalInterface
  public interface Search {
    /**
     * Plans; throws {@link IllegalArgumentException} with a sentence for the user where it cannot.
     *
     * @param stop asked now and then; from the first yes on the best so far counts
     */
    SteadyPlanning plan(StageCosts costs, SteadyRequest request, BooleanSupplier stop);
  }
}

package dev.pipewright.planner.catalog;

import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.PlacementResult;
import java.util.function.BooleanSupplier;

/** Gives the operators of a graph to devices. */
public record OperatorPlanner(Search search) implements PlannerMethod {
  /** How a planner plans. */
  @FunctionalInterface
  public interface Search {
    /**
     * Plans.
     *
     * @param flags that the planner declares for itself
     * @param stop asked now and then; from the first yes on the best so far counts
     */
    PlacementResult plan(OperatorGraph graph, FlagValues flags, BooleanSupplier stop);
  }
}

package dev.pipewright.solver;

import dev.pipewright.planner.catalog.McapMethod;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.PlannerProvider;
import dev.pipewright.solver.bayes.McapBayesian;
import java.util.List;

/** The planners of this module, for the catalogue. */
public final class SolverPlanners implements PlannerProvider {
  @Override
  public List<PlannerEntry> entries() {
    return List.of(
        PlannerEntry.memory(
            McapBayesian.NAME,
            "mCAP's by Bayesian optimisation",
            McapMethod.cutting(stop ->
                (peaks, layers, stages) ->
                    McapBayesian.of(peaks, layers, stages, McapBayesian.Settings.USUAL, stop))));
  }
}

package dev.pipewright.planner.catalog;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.memory.Mcap;
import dev.pipewright.planner.memory.PeakBinding;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The method that mCAP's planners share: stages of one device each. They differ in how they cut.
 */
public final class McapMethod {
  private McapMethod() {}

  /**
   * A planner that cuts so.
   *
   * @param cutter given when to stop
   */
  public static StepPlanner cutting(Function<BooleanSupplier, Mcap.Cutter> cutter) {
    return StepPlanner.of(
            (costs, request, decides, stop) -> Mcap.plan(costs, request, cutter.apply(stop), stop))
        .recomputing(Recomputation.NEVER)
        .ofPeaks((peaks, cluster, stages, stop) ->
            Mcap.measured(peaks, cluster, stages, cutter.apply(stop)))
        .because(McapMethod::smallestPeak);
  }

  /** Why nothing fits: the smallest peak of all. */
  static String smallestPeak(StageCosts costs, Request request, Planning planning) {
    return PeakBinding.remedy(planning.candidates().get(0));
  }
}

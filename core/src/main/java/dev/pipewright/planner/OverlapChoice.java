package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Whether gradients of sharded states are summed during the last backward pass, or after it. */
final class OverlapChoice {
  private OverlapChoice() {}

  /**
   * A plan as it is, and where states are sharded with the other choice; those that fit and that
   * the request allows.
   *
   * @param estimates by the cost model
   * @param decides by the simulator
   */
  static List<Candidate> of(PipelinePlan plan, Request request, Oracle estimates, Oracle decides) {
    List<PipelinePlan> both =
        plan.sharding() == ZeroStage.NOTHING
            ? List.of(plan)
            : List.of(plan, plan.overlapping(!plan.overlapGradients()));
    List<Candidate> found = new ArrayList<>();
    for (PipelinePlan each : both) {
      if (request.restriction().nearest(each).equals(Optional.of(each))) {
        Assessment estimate = estimates.assess(each);
        if (estimate.fits()) {
          found.add(new Candidate(each.kind(), each, estimate, Optional.of(decides.assess(each))));
        }
      }
    }
    return found;
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * All layers on the fastest device: what every plan has to beat. Its step pays for the optimizer's
 * update as those of all other plans do.
 */
public final class OneDevice {
  private OneDevice() {}

  /**
   * The best micro-batch and schedule for it; empty where the network does not fit.
   *
   * @param decides chooses among them; a simulator
   */
  public static Optional<Candidate> best(StageCosts costs, Request request, Oracle decides) {
    int fastest = 0;
    for (int device = 1; device < costs.workload().cluster().size(); device++) {
      fastest = costs.slowdown(device) < costs.slowdown(fastest) ? device : fastest;
    }
    StagePlan all = new StagePlan(0, costs.size() - 1, List.of(fastest), Recompute.NONE, 1);
    return SynchronousPlans.best(
            "one device",
            costs,
            List.of(all),
            1,
            request.withStages(OptionalInt.empty()),
            decides,
            () -> false)
        .best();
  }
}

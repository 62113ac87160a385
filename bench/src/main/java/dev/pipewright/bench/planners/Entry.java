package dev.pipewright.bench.planners;

import dev.pipewright.bench.dapple.GivenPlans;
import dev.pipewright.bench.dapple.Plans;
import dev.pipewright.plan.PipelinePlan;
import java.util.List;
import java.util.Optional;

/**
 * What a planner's proposals came to, the best of them where there are several.
 *
 * @param plan empty where it does not fit, or where the planner finds nothing
 * @param seconds of a step in the simulator; NaN without a plan
 * @param planningSeconds wall time of the planner alone, everything prepared anew
 */
record Entry(Optional<PipelinePlan> plan, double seconds, double planningSeconds) {
  static Entry of(Contender contender, PlannedNetwork network) {
    PlannedNetwork fresh = network.fresh();
    long start = System.nanoTime();
    List<Proposal> proposals = contender.proposals().apply(fresh);
    double planning = (System.nanoTime() - start) / 1e9;
    Entry best = new Entry(Optional.empty(), Double.NaN, planning);
    for (Proposal proposal : proposals) {
      Optional<PipelinePlan> plan = proposal.plan(network);
      if (plan.isPresent()) {
        double seconds = new GivenPlans(network.costs()).scored(plan.get()).seconds();
        best = seconds >= best.seconds ? best : new Entry(plan, seconds, planning);
      }
    }
    return best;
  }

  String words() {
    return plan.map(Plans::words).orElse("does not fit");
  }
}

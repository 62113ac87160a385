package dev.pipewright.bench.planners;

import dev.pipewright.planner.madpipe.ContiguousPlanner;
import dev.pipewright.planner.madpipe.LayerChain;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.madpipe.PlacedPattern;
import dev.pipewright.schedule.periodic.Discipline;
import java.util.List;

/**
 * The contiguous stages of Beaumont et al., one device each: the optimum under 1F1B* and memory.
 * Plans of theirs with several stages on a device are no synchronous pipelines.
 */
final class PeriodicStages {
  private PeriodicStages() {}

  static List<Proposal> of(PlannedNetwork network) {
    PeriodicProblem problem = PeriodicProblem.of(network.costs(), network.microBatch());
    LayerChain chain = problem.chain();
    return ContiguousPlanner.plan(problem, new Discipline.Star())
        .map(found -> proposal(found.inNetwork(chain)))
        .stream()
        .toList();
  }

  private static Proposal proposal(PlacedPattern plan) {
    return new Proposal.Stages(
        plan.stages().stream().map(PlacedPattern.Placed::first).toList(),
        plan.stages().stream().map(stage -> List.of(stage.device())).toList());
  }
}

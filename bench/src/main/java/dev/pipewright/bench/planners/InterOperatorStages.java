package dev.pipewright.bench.planners;

import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.alpa.AlpaPlanner;
import java.util.List;
import java.util.OptionalInt;

/** Stages as Alpa's inter-operator pass constructs them ({@link AlpaPlanner}). */
final class InterOperatorStages {
  private InterOperatorStages() {}

  static List<Proposal> of(PlannedNetwork network) {
    return AlpaPlanner.stages(
            network.costs(), network.globalBatch(), network.microBatch(), OptionalInt.empty())
        .map(InterOperatorStages::proposal)
        .stream()
        .toList();
  }

  private static Proposal proposal(List<StagePlan> stages) {
    return new Proposal.Stages(
        stages.stream().map(StagePlan::firstLayer).toList(),
        stages.stream().map(StagePlan::devices).toList());
  }
}

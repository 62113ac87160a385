package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Plan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.Search;
import java.util.List;
import java.util.Optional;

/** Scores a given plan as if it had been found. */
public final class Evaluation {
  private Evaluation() {}

  /** Throws {@link IllegalArgumentException} when the plan is not for this model and cluster. */
  public static Planning of(StageCosts costs, Plan plan, CostModel costModel, Oracle simulator) {
    Assessment estimate = costModel.oracle(costs).assess(plan);
    Candidate candidate =
        new Candidate(Drafts.kind(plan), plan, estimate, Optional.of(simulator.assess(plan)));
    return new Planning(
        Planning.GIVEN,
        costModel.word(),
        Optional.of(candidate),
        List.of(candidate),
        LowerBounds.best(costs, Math.toIntExact(plan.globalBatch()), costModel),
        Binding.of(candidate),
        LowerBounds.oneDeviceSeconds(costs, Math.toIntExact(plan.globalBatch()), costModel),
        new Search(false, 0, "a given plan"));
  }
}

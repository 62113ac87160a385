package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.Search;
import java.util.List;
import java.util.Optional;

/** Scores a given plan as if it had been found. */
public final class Evaluation {
  private Evaluation() {}

  /**
   * A plan for a step of {@code globalBatch} samples.
   *
   * <p>Throws {@link IllegalArgumentException} when the plan is not for this model, batch and
   * cluster.
   */
  public static Planning of(
      StageCosts costs,
      PipelinePlan plan,
      long globalBatch,
      CostModel costModel,
      Oracle simulator) {
    Assessment estimate = costModel.oracle(costs, globalBatch).assess(plan);
    Candidate candidate =
        new Candidate(plan.kind(), plan, estimate, Optional.of(simulator.assess(plan)));
    return new Planning(
        Planning.GIVEN,
        costModel.word(),
        Optional.of(candidate),
        List.of(candidate),
        LowerBounds.of(plan, costs, Math.toIntExact(globalBatch), costModel),
        Binding.of(candidate),
        LowerBounds.oneDeviceSeconds(costs, Math.toIntExact(globalBatch), costModel),
        new Search(false, 0, "a given plan"));
  }
}

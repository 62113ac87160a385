package dev.pipewright.api;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.PlanFit;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Evaluation;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.catalog.PlannerCatalog;
import java.util.List;
import java.util.Optional;

/** Predicts time and memory of plans that are given. */
public final class Oracles {
  private static final String PLAN = "plan";

  private Oracles() {}

  /** The names of the cost models. */
  public static List<String> names() {
    return StepOptions.COST_MODELS;
  }

  /**
   * Seconds of a step, and seconds and bytes of each stage, by the problem's cost model. Throws
   * {@link IllegalArgumentException} where the plan is not for the problem's network, cluster or
   * global batch. A plan that does not fit memory is no mistake: {@link Assessment#fits} says so.
   */
  public static Assessment predict(Problem problem, PipelinePlan plan) {
    return evaluate(problem, plan).planning().best().orElseThrow().estimate();
  }

  /** The same by a cost model of {@link #names}. */
  public static Assessment predict(Problem problem, PipelinePlan plan, String costModel) {
    return predict(problem.withCostModel(costModel), plan);
  }

  /** A plan as if a planner had found it, with its simulated step; throws likewise. */
  public static Planned evaluate(Problem problem, PipelinePlan plan) {
    return evaluate(problem, plan, Planners.DEFAULT, PLAN);
  }

  /**
   * The same.
   *
   * @param planner whose options the problem states
   * @param source what sentences about mistakes call the plan, like its file
   */
  public static Planned evaluate(
      Problem problem, PipelinePlan plan, String planner, String source) {
    StepOptions step = problem.step();
    Request asked = step.request(planner, true);
    Costed costed = problem.costed();
    Request request = asked.withStages(StepOptions.stages(step.stages(), costed));
    SizeLimits.passes(source, plan);
    int samples = request.globalBatch();
    CostModel costModel = request.costModel();
    if (!costModel.isFor(samples, plan)) {
      throw new BadInputException(
          "%s: the plan processes %d samples per step, not %d; give --global-batch %d or change the plan"
              .formatted(source, plan.globalBatch(), samples, plan.globalBatch()));
    }
    for (String mistake : PlanFit.problems(plan, costed)) {
      throw new BadInputException(source + ": " + mistake);
    }
    SimulatedOracle simulator = new SimulatedOracle(costModel.oracle(costed.costs(), samples));
    long start = System.nanoTime();
    Planning planning;
    try {
      planning = Evaluation.of(costed.costs(), plan, samples, costModel, simulator);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(source + ": " + e.getMessage());
    }
    return new Planned(
        PlannerCatalog.find(planner).orElseThrow(),
        costed,
        request,
        Optional.empty(),
        planning,
        (System.nanoTime() - start) / 1e9);
  }
}

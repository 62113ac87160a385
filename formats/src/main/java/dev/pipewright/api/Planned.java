package dev.pipewright.api;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.ScheduledPlanner;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.reasons.Alternatives;
import dev.pipewright.planner.reasons.PlanComparison;
import dev.pipewright.sim.Run;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * What a planner answers.
 *
 * @param planner that was asked
 * @param costed the priced network and cluster
 * @param request as the planner had it
 * @param schedule that was named, where it is none that every planner knows
 * @param planning the best plan, its rivals, and a bound that no plan is below
 * @param searchSeconds that the search took, without reading and pricing the network
 */
public record Planned(
    PlannerEntry planner, // for the command line
    Costed costed, // likewise
    Request request,
    Optional<Choice> schedule,
    Planning planning,
    double searchSeconds) {
  /** Whether there is a plan. */
  public boolean isFound() {
    return planning.best().isPresent();
  }

  /** Why nothing fits, and what would help; empty where there is a plan. */
  public Optional<String> reason() {
    return isFound() ? Optional.empty() : Optional.of(sentence());
  }

  private String sentence() {
    return schedule
        .map(choice -> ScheduledPlanner.sentence(choice, costed.costs(), request))
        .orElseGet(() ->
            planner.steps().orElseThrow().remedy().sentence(costed.costs(), request, planning));
  }

  private Candidate best() {
    return planning
        .best()
        .orElseThrow(() -> new NoSuchElementException("nothing fits: " + sentence()));
  }

  /** The best plan; throws {@link NoSuchElementException} with the reason where nothing fits. */
  public PipelinePlan plan() {
    return best().plan();
  }

  /** Seconds of a step by the cost model; throws as {@link #plan} does. */
  public double estimatedSeconds() {
    return best().estimate().stepSeconds();
  }

  /** Memory of each device of a stage at its peak, by category; by stage. Throws likewise. */
  public List<PeakMemory> memory() {
    return best().estimate().memory();
  }

  /**
   * Plans that people would write down by hand, against the best plan; none without a plan, or
   * where another cost model or objective chose it.
   */
  public List<PlanComparison> alternatives() {
    return isFound() && choseByTime()
        ? Alternatives.of(costed.costs(), request, Planners.decider(costed.costs()), best())
        : List.of();
  }

  /** The best plan of another answer to the same problem, against the best plan of this one. */
  public PlanComparison against(String name, Planned other) {
    return Alternatives.of(name, costed.costs(), other.best(), best());
  }

  private boolean choseByTime() {
    return request.costModel() == CostModel.PIPEWRIGHT
        && planning.objective() == Objective.STEP_TIME
        && !planning.isGiven();
  }

  /** The simulated step of the best plan; throws likewise. */
  public SimulatedStep step() {
    Candidate best = best();
    Run run = SimulatedOracle.run(best.plan(), best.estimate());
    return SimulatedStep.of(best.plan(), best.estimate(), run);
  }

  /** Whether every stage fits memory, under cost models that count it; false without a plan. */
  public boolean fits() {
    return isFound() && (request.costModel() == CostModel.DAPPLE_REPO || best().estimate().fits());
  }
}

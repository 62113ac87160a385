package dev.pipewright.planner;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;

/**
 * Runs the stages of hybrids in other orders than 1F1B: zero bubbles fill the waits that unequal
 * stages leave, and the ends of the step. Stages, devices and micro-batches stay.
 */
final class HybridSchedules {
  private static final int MOST = 4; // hybrids

  private final Request request;
  private final List<ScheduleEntry> entries;
  private final PipelineOracle estimates;

  /**
   * Of a network on a cluster.
   *
   * @param choices of schedules; those with one stage on each rank count
   */
  HybridSchedules(StageCosts costs, Request request, List<Choice> choices) {
    this.request = request;
    this.estimates = new PipelineOracle(costs, new PathFormula());
    this.entries =
        choices.stream()
            .filter(choice -> choice.chunks() == 1)
            .map(Choice::entry)
            .filter(entry -> PipelinePolicy.find(entry.name()).isEmpty())
            .toList();
  }

  /**
   * The first of some hybrids in all other orders, those that fit.
   *
   * @param decides by the simulator
   */
  List<Candidate> of(List<Candidate> hybrids, Oracle decides) {
    return hybrids.stream()
        .map(Candidate::plan)
        .filter(plan -> plan.spec() instanceof PipelinePolicy && plan.stages().size() > 1)
        .limit(MOST)
        .toList()
        .parallelStream()
        .flatMap(plan -> entries.stream().flatMap(entry -> in(plan, entry).stream()))
        .flatMap(plan -> OverlapChoice.of(plan, request, estimates, decides).stream())
        .toList();
  }

  /**
   * A plan's stages in the order of a schedule; empty where that runs both ways or is not for these
   * numbers.
   */
  Optional<PipelinePlan> in(PipelinePlan plan, ScheduleEntry entry) {
    PricedInput input =
        new PricedInput(
            plan.stages().size(),
            plan.microBatches(),
            1,
            estimates,
            plan::inOrder,
            new HashMap<>());
    try {
      FixedOrder order = FixedOrder.of(entry.make(input).named(entry.name()));
      return order.order().placement().chains() > 1
          ? Optional.empty()
          : Optional.of(plan.inOrder(order));
    } catch (IllegalArgumentException e) { // not for these numbers
      return Optional.empty();
    }
  }
}

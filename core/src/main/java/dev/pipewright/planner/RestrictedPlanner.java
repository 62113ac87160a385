package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Plans under a {@link Restriction}: of the candidates of a search without it those most like them,
 * and where equal pipelines are searched, a second search whose every plan keeps it. The lower
 * bound of all plans is one of these.
 */
public final class RestrictedPlanner {
  private final Request request;
  private final Oracle estimates;
  private final Oracle decides;

  private RestrictedPlanner(StageCosts costs, Request request, Oracle decides) {
    this.request = request;
    this.estimates = request.costModel().oracle(costs, request.globalBatch());
    this.decides = decides;
  }

  /**
   * The best plans that a request's restriction allows; without a best where none fits.
   *
   * @param free what the planner answers without the restriction
   * @param schedule that was named, where it is none that every planner knows
   * @param pipelines whether equal pipelines are searched
   * @param stop asked now and then; from the first yes on the best so far counts
   */
  public static Planning plan(
      Planning free,
      Optional<Choice> schedule,
      boolean pipelines,
      StageCosts costs,
      Request request,
      Oracle decides,
      BooleanSupplier stop) {
    RestrictedPlanner planner = new RestrictedPlanner(costs, request, decides);
    List<Candidate> found = new ArrayList<>();
    for (Candidate candidate : free.candidates()) {
      request
          .restriction()
          .nearest(candidate.plan())
          .filter(planner::isAsked)
          .flatMap(planner::priced)
          .ifPresent(found::add);
    }
    boolean ended = !found.isEmpty() && stop.getAsBoolean();
    if (schedule.isPresent() && !ended) {
      found.addAll(
          ScheduledPlanner.plan(schedule.get(), costs, request, decides, stop).candidates());
    } else if (pipelines && !ended) {
      found.addAll(AutoPlanner.pipelines(costs, request, decides, stop));
    }
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    return free.of(EqualPipelines.different(found));
  }

  /** Whether it has the stages and micro-batches that were asked for. */
  private boolean isAsked(PipelinePlan plan) {
    return request.allows(plan.placement().ranks())
        && plan.globalBatch() == request.globalBatch()
        && request.microBatch().orElse(plan.microBatch()) == plan.microBatch();
  }

  private Optional<Candidate> priced(PipelinePlan plan) {
    Assessment estimate = estimates.assess(plan);
    return estimate.fits()
        ? Optional.of(new Candidate(plan.kind(), plan, estimate, Optional.of(decides.assess(plan))))
        : Optional.empty();
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.partition.OnePath;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/**
 * Plans for a question that differs little from one that was planned: the known plans as they are,
 * and what a {@linkplain LayoutClimb climb} from their layouts reaches. Stopped after some
 * milliseconds it answers while a user moves a slider; it proves nothing.
 */
public final class LocalSearch {
  private LocalSearch() {}

  /**
   * The best plan that is found before {@code stop}; at least one layout is priced.
   *
   * @param near plans for the network on this or another cluster
   * @param microBatches of the plan, exactly so many; any number where empty
   * @param decides says how long the best takes; a simulator
   */
  public static Planning plan(
      StageCosts costs,
      Request request,
      List<PipelinePlan> near,
      OptionalInt microBatches,
      Oracle decides,
      BooleanSupplier stop) {
    Oracle estimates = new PipelineOracle(costs, new PathFormula());
    int size = costs.workload().cluster().size();
    List<Candidate> found = new ArrayList<>();
    for (PipelinePlan plan : near) {
      boolean asked = microBatches.orElse(plan.microBatches()) == plan.microBatches();
      if (asked && plan.globalBatch() == request.globalBatch() && isFor(size, plan)) {
        Assessment estimate = estimates.assess(plan);
        if (estimate.fits()) {
          Assessment simulated = decides.assess(plan);
          found.add(new Candidate(plan.kind(), plan, estimate, Optional.of(simulated)));
        }
      }
    }
    double known =
        found.stream().mapToDouble(Candidate::seconds).min().orElse(Double.POSITIVE_INFINITY);
    int runs = OnePath.positions(costs.workload().chain()).length;
    Neighbours neighbours =
        new Neighbours(costs, request, AutoPlanner.choices(request), runs, microBatches);
    LayoutClimb climb = new LayoutClimb(costs, request, neighbours, known, decides, stop);
    climb.search(
        neighbours.here(near),
        neighbours.usual(),
        Integer.MAX_VALUE,
        Integer.MAX_VALUE,
        Long.MAX_VALUE);
    climb.found(0).ifPresent(found::add);
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    return planning(costs, request, EqualPipelines.different(found), climb.priced());
  }

  private static boolean isFor(int devices, PipelinePlan plan) {
    return plan.stages().stream()
        .flatMap(stage -> stage.devices().stream())
        .allMatch(device -> device < devices);
  }

  private static Planning planning(
      StageCosts costs, Request request, List<Candidate> found, int priced) {
    Optional<Candidate> first = found.stream().findFirst();
    return new Planning(
        AutoPlanner.NAME,
        request.costModel().word(),
        first,
        found,
        new LowerBound(LowerBounds.workSeconds(costs, request.globalBatch()), "work / devices"),
        first.map(Binding::of).orElse("memory"),
        LowerBounds.oneDeviceSeconds(costs, request.globalBatch(), request.costModel()),
        new Search(false, priced, "plans near known ones"));
  }
}

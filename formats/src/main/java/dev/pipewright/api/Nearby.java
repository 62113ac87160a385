package dev.pipewright.api;

import dev.pipewright.cluster.ClusterVariants;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.LocalSearch;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.catalog.PlannerCatalog;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/**
 * What is known of a problem that differs little from one that was planned.
 *
 * @param plans for the same network, on the cluster as it was
 * @param microBatches that the plan must have; any number where empty
 * @param straggler how many times as long as the others the last device takes; 1 where none does
 */
public record Nearby(List<PipelinePlan> plans, OptionalInt microBatches, double straggler) {
  /** How long a search may take while a user moves a slider. */
  public static final Duration PATIENCE = Duration.ofMillis(80);

  public Nearby {
    plans = List.copyOf(plans);
  }

  /** The best plan for a problem that is found before {@code stop}. */
  Planned plan(Problem problem, BooleanSupplier stop) {
    long start = System.nanoTime();
    Request request = problem.step().request(Planners.DEFAULT, false);
    Costed costed = straggling(problem.costed());
    SizeLimits.manyDevices(costed.workload().cluster());
    StageCosts costs = costed.costs();
    Planning planning =
        LocalSearch.plan(
            costs,
            request.withStages(StepOptions.stages(problem.step().stages(), costed)),
            plans,
            microBatches,
            Planners.decider(costs),
            stop);
    return new Planned(
        PlannerCatalog.find(Planners.DEFAULT).orElseThrow(),
        costed,
        request,
        Optional.empty(),
        planning,
        (System.nanoTime() - start) / 1e9);
  }

  /** With the profile of the devices as they were. */
  private Costed straggling(Costed costed) {
    Workload all = costed.workload();
    Workload slow =
        new Workload(
            all.chain(),
            all.profile(),
            all.training(),
            ClusterVariants.withStraggler(all.cluster(), straggler));
    return new Costed(
        costed.model(),
        costed.cluster(),
        straggler == 1 ? costed.costs() : costed.costs().with(slow),
        costed.memory(),
        costed.usualSlice(),
        costed.samplesPerEpoch(),
        costed.sequence());
  }
}

package dev.pipewright.api;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.ScheduledPlanner;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Plans steps of synchronous training. */
public final class Planners {
  /** The planner that plans where none is named. */
  public static final String DEFAULT = "auto";

  private Planners() {}

  /** The names of the planners. */
  public static List<String> names() {
    return PlannerCatalog.names().toList();
  }

  /** The best plan of the default planner. */
  public static Planned plan(Problem problem) {
    return plan(problem, DEFAULT);
  }

  /** The best plan of a planner of {@link #names}. */
  public static Planned plan(Problem problem, String planner) {
    return plan(problem, planner, () -> false);
  }

  /**
   * The best plan of a planner; the caller may end the search.
   *
   * @param stop asked now and then; from the first {@code true} on the planner returns the best
   *     plan so far, or throws {@link SearchStoppedException} where it has none
   */
  public static Planned plan(Problem problem, String planner, BooleanSupplier stop) {
    PlannerEntry entry =
        PlannerCatalog.find(planner)
            .orElseThrow(() ->
                new BadInputException(
                    "--planner: unknown '" + planner + "'; " + Suggestion.of(planner, names())));
    StepOptions step = problem.step();
    step.stages().ifPresent(count -> StepOptions.checkStages(planner, count));
    Request asked = step.request(planner, false);
    Costed costed = problem.costed();
    Request request = asked.withStages(StepOptions.stages(step.stages(), costed));
    Optional<Choice> schedule = step.anySchedule(planner);
    SizeLimits.devices(costed.workload().cluster());
    StageCosts costs = costed.costs();
    Oracle decides = decider(costs);
    long start = System.nanoTime();
    Planning planning =
        schedule.isPresent()
            ? ScheduledPlanner.plan(schedule.get(), costs, request, decides, stop)
            : entry.search().plan(costs, request, decides, stop);
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Planned(entry, costed, request, schedule, planning, seconds);
  }

  /**
   * The simulator that decides among the best plans, on the stage times of the default cost model.
   */
  public static Oracle decider(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }
}

package dev.pipewright.api;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.formats.export.ExportOptions;
import dev.pipewright.formats.export.ExportSubject;
import dev.pipewright.formats.export.Gap;
import dev.pipewright.formats.export.PlanExport;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.RestrictedPlanner;
import dev.pipewright.planner.ScheduledPlanner;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.reasons.Change;
import dev.pipewright.planner.reasons.ClusterChange;
import dev.pipewright.sim.Jitter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Plans steps of synchronous training. */
public final class Planners {
  /** The planner that plans where none is named. */
  public static final String DEFAULT = PlannerCatalog.DEFAULT;

  private Planners() {}

  /** The names of the planners: those that make the step short, then those of the least memory. */
  public static List<String> names() {
    return PlannerCatalog.stepPlanners().toList();
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
    return plan(problem, problem::costed, planner, stop);
  }

  /**
   * The best plan of a planner that a target's files can say: of recomputation, placement,
   * schedules and sharding the search keeps to what the target has. Where the best plan of all is
   * such a plan, it is the answer.
   *
   * @param target of {@code export}, like {@code megatron}
   * @param around whose files a launcher's start; as fits the network where empty
   * @param stop as of {@link #plan(Problem, String, BooleanSupplier)}
   */
  public static PlannedForTarget planFor(
      Problem problem,
      String planner,
      String target,
      Optional<String> around,
      BooleanSupplier stop) {
    PlanExport export =
        ExportCatalog.named("--export", target, new ExportOptions(around, Optional.empty()));
    Planned free = plan(problem, planner, stop);
    if (!free.isFound()) {
      return new PlannedForTarget(free, free, List.of());
    }
    ExportSubject subject = ExportSubject.of(free.costed(), free.plan(), Optional.empty());
    List<String> cannotSay = export.gaps(subject).stream().map(Gap::part).toList();
    if (cannotSay.isEmpty() || export.nearest(subject).isEmpty()) {
      return new PlannedForTarget(free, free, cannotSay);
    }
    long start = System.nanoTime();
    Request request = free.request().within(export.restriction(subject));
    StageCosts costs = free.costed().costs();
    Planning planning =
        RestrictedPlanner.plan(
            free.planning(),
            free.schedule(),
            planner.equals(AutoPlanner.NAME) && AutoPlanner.widely(request),
            costs,
            request,
            decider(costs),
            stop);
    if (planning.best().isEmpty()) {
      return new PlannedForTarget(free, free, cannotSay);
    }
    double seconds = free.searchSeconds() + (System.nanoTime() - start) / 1e9;
    Planned planned =
        new Planned(free.planner(), free.costed(), request, free.schedule(), planning, seconds);
    return new PlannedForTarget(planned, free, cannotSay);
  }

  /**
   * Plans that no other excels in step time and peak memory, of all that a planner prices under
   * falling limits of memory.
   *
   * @param sizes whether parts of the cluster are planned for, and few devices count, too
   * @param stop from the first {@code true} on the front so far counts
   */
  public static PlannedFront front(
      Problem problem, String planner, boolean sizes, BooleanSupplier stop) {
    return PlannedFront.of(problem, planner, sizes, stop);
  }

  /**
   * The plan whose steps have the least 95th percentile where durations vary at random, among the
   * best that a planner finds, also for fewer ranks.
   *
   * @param plans how the planner plans a problem, like {@link #plan(Problem, String)}
   * @param jitter of durations
   * @param runs steps of each plan that are simulated
   * @param stop as of {@link #plan(Problem, String, BooleanSupplier)}
   */
  public static RobustPlanned planRobust(
      Problem problem,
      Function<Problem, Planned> plans,
      Jitter jitter,
      int runs,
      BooleanSupplier stop) {
    return RobustPlanned.of(problem, plans, jitter, runs, stop);
  }

  /**
   * The same as without a target.
   *
   * @param priced reads the network and prices its layers, if it has not been done yet
   */
  static Planned plan(
      Problem problem, Supplier<Costed> priced, String planner, BooleanSupplier stop) {
    PlannerEntry entry = find(planner);
    StepOptions step = problem.step();
    step.stages().ifPresent(count -> StepOptions.checkStages(planner, count));
    Request asked = step.request(planner, false);
    Costed costed = priced.get();
    Request request = asked.withStages(StepOptions.stages(step.stages(), costed));
    Optional<Choice> schedule = step.anySchedule(planner);
    if (schedule.isEmpty() && planner.equals(AutoPlanner.NAME) && AutoPlanner.widely(request)) {
      SizeLimits.manyDevices(costed.workload().cluster());
    } else {
      SizeLimits.devices(costed.workload().cluster());
    }
    boolean memory = entry.objective() == Objective.PEAK_MEMORY;
    if (memory) {
      SizeLimits.searched(planner, costed.costs().size());
    }
    long start = System.nanoTime();
    Planning planning;
    try {
      planning = search(entry, schedule, costed.costs(), request, stop);
    } catch (BadInputException e) {
      throw e; // a sentence already
    } catch (IllegalArgumentException e) {
      throw memory ? new BadInputException("--planner " + planner + ": " + e.getMessage()) : e;
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Planned(entry, costed, request, schedule, planning, seconds);
  }

  /**
   * The best plans of the same planner where the cluster had one machine more (one device, where
   * there is one machine), a tenth more memory, or twice the bandwidth between machines: as many
   * searches again, and the plan that was found is a candidate of each. Twice the bandwidth is left
   * out within a machine whose data sheet gives the times of divided layers, as that has a
   * bandwidth of its own.
   *
   * @param stop as of {@link #plan(Problem, String, BooleanSupplier)}
   */
  public static List<Change> whatIf(Problem problem, Planned found, BooleanSupplier stop) {
    return whatIf(problem, found, there -> plan(there, found.planner().name(), stop));
  }

  /**
   * The same by another way to plan.
   *
   * @param plans the same problem on another cluster
   */
  public static List<Change> whatIf(
      Problem problem, Planned found, Function<Problem, Planned> plans) {
    if (!found.isFound()) {
      return List.of();
    }
    boolean sheet = found.costed().workload().profile().divided().isPresent();
    double seconds = found.planning().best().orElseThrow().seconds();
    List<Change> changes = new ArrayList<>();
    for (ClusterChange change : ClusterChange.of(problem.cluster())) {
      boolean machine = change.cluster().machines() == 1;
      boolean faster = !change.cluster().levels().equals(problem.cluster().levels());
      if (!(sheet && machine && faster)) {
        Planned there = plans.apply(problem.on(change.cluster()));
        Optional<Candidate> best =
            Stream.concat(there.planning().best().stream(), same(found.plan(), there).stream())
                .min(Comparator.comparingDouble(Candidate::seconds));
        changes.add(new Change(change.words(), best, seconds));
      }
    }
    return changes;
  }

  /**
   * The best plan near known ones, for whoever waits: it begins with plans of a similar problem and
   * proves nothing. {@link #whatIf} searches anew.
   *
   * @param stop asked often; at least one plan is priced before
   */
  public static Planned planNear(Problem problem, Nearby nearby, BooleanSupplier stop) {
    return nearby.plan(problem, stop);
  }

  /** A plan for another cluster on this one; empty where it does not fit. */
  private static Optional<Candidate> same(PipelinePlan plan, Planned there) {
    StageCosts costs = there.costed().costs();
    Request request = there.request();
    Assessment estimate = request.costModel().oracle(costs, request.globalBatch()).assess(plan);
    return estimate.fits()
        ? Optional.of(
            new Candidate(plan.kind(), plan, estimate, Optional.of(decider(costs).assess(plan))))
        : Optional.empty();
  }

  private static PlannerEntry find(String planner) {
    return PlannerCatalog.find(planner)
        .filter(entry -> entry.steps().isPresent())
        .orElseThrow(() ->
            new BadInputException(
                PlannerCatalog.find(planner).isPresent()
                    ? "--planner: %s plans no steps of synchronous training; take %s"
                        .formatted(planner, String.join(", ", names()))
                    : "--planner: unknown '" + planner + "'; " + Suggestion.of(planner, names())));
  }

  private static Planning search(
      PlannerEntry entry,
      Optional<Choice> schedule,
      StageCosts costs,
      Request request,
      BooleanSupplier stop) {
    Oracle decides = decider(costs);
    return schedule.isPresent()
        ? ScheduledPlanner.plan(schedule.get(), costs, request, decides, stop)
        : entry.steps().orElseThrow().search().plan(costs, request, decides, stop);
  }

  /**
   * The simulator that decides among the best plans, on the stage times of the default cost model.
   */
  public static Oracle decider(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Plans for one schedule of the catalogue: {@link EqualPipelines} whose layers are not divided. */
public final class ScheduledPlanner {
  /** The planner's name in answers. */
  public static final String NAME = "balanced";

  /** Why no equal pipeline is faster. */
  static final String BOUND = "work, filling and memory of every grid of equal pipelines";

  private static final SearchEffort EFFORT = new SearchEffort(0, 0, 6, 6, 1_000);

  /**
   * The schedule to plan for.
   *
   * @param chunks stages of each rank and direction
   */
  public record Choice(ScheduleEntry entry, int chunks) {}

  private final Choice choice;
  private final StageCosts costs;
  private final Request request;
  private final EqualPipelines pipelines;
  private final List<Candidate> found;

  private ScheduledPlanner(
      Choice choice, StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    this.choice = choice;
    this.costs = costs;
    this.request = request;
    this.pipelines = new EqualPipelines(costs, request, List.of(choice), EFFORT, stop);
    pipelines.add(Parallelism.NONE, List.of(ZeroStage.NOTHING));
    this.found = pipelines.search(decides);
  }

  /**
   * The best plan that is found.
   *
   * @param decides among the best candidates
   * @param stop asked now and then; then the best so far counts
   */
  public static Planning plan(
      Choice choice, StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    return new ScheduledPlanner(choice, costs, request, decides, stop).planning();
  }

  private Planning planning() {
    return new Planning(
        NAME,
        request.costModel().word(),
        found.stream().findFirst(),
        found,
        bound(),
        binding(),
        LowerBounds.oneDeviceSeconds(costs, request.globalBatch(), CostModel.PIPEWRIGHT),
        new Search(
            false,
            pipelines.plans(),
            "equal pipelines of " + choice.entry().name() + ", balanced cuts"));
  }

  private LowerBound bound() {
    double least = pipelines.leastSeconds();
    return Double.isFinite(least)
        ? new LowerBound(least, BOUND)
        : LowerBounds.best(costs, request.globalBatch(), CostModel.PIPEWRIGHT);
  }

  private String binding() {
    if (!found.isEmpty()) {
      return Binding.of(found.get(0));
    }
    return pipelines.isEmpty() ? refused() : "memory";
  }

  /** Why not even one pipeline could be priced. */
  private String refused() {
    return pipelines
        .refusal()
        .orElseGet(() ->
            "no pipeline of %s has enough layers, devices and samples; take more of them, or another schedule"
                .formatted(choice.entry().name()));
  }

  /** Why there is no plan, and what would help. */
  public static String sentence(Choice choice, StageCosts costs, Request request) {
    Oracle estimates = CostModel.PIPEWRIGHT.oracle(costs);
    ScheduledPlanner planner = new ScheduledPlanner(choice, costs, request, estimates, () -> false);
    if (planner.pipelines.isEmpty()) {
      return planner.refused();
    }
    return "the smallest peak of a balanced pipeline of %s is %s on a device; take such devices, more of them, or a smaller --micro-batch"
        .formatted(choice.entry().name(), Remedy.roundedUp(planner.pipelines.leastPeakBytes()));
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/**
 * The fastest of two kinds of plans: {@linkplain DapplePlanner hybrids} with 1F1B whose stages have
 * any number of devices, and {@linkplain EqualPipelines equal pipelines} with any schedule of the
 * catalogue, {@linkplain GridKinds parallelism within layers}, and sharded optimizer state.
 */
public final class AutoPlanner {
  /** The planner's name. */
  public static final String NAME = "auto";

  static final SearchEffort EFFORT = new SearchEffort(6, 2, 8, 2, 40);
  static final int STARTS = 4; // plans from whose layouts others are tried
  static final int CLIMBED = 240; // layouts
  static final int IN_VAIN = 40; // of them, one after the other
  static final long PASSES = 60_000; // in their prices

  private static final double WORTHWHILE = 1.10; // times the bound: nearer plans are good enough
  private static final String FIRST = PipelinePolicy.A.scheduleName();
  private static final double HOPE = 1.03; // how much slower hybrids may begin
  private static final List<Integer> CHUNKS = List.of(1, 2, 3, 4, 5, 6, 7, 8, 12, 16);

  private AutoPlanner() {}

  /**
   * Plans.
   *
   * @param decides chooses among the best few; a simulator
   * @param stop asked now and then; from the first yes on the best so far counts
   */
  public static Planning plan(
      StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    if (!widely(request)) {
      return DapplePlanner.plan(costs, request, decides, stop);
    }
    List<Candidate> found = new ArrayList<>();
    double least = Double.POSITIVE_INFINITY;
    long plans = 0;
    for (StageCosts part : parts(costs)) {
      EqualPipelines pipelines = pipelines(part, request, stop);
      found.addAll(pipelines.search(decides));
      least = Math.min(least, pipelines.leastSeconds());
      plans += pipelines.plans();
    }
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    double known = found.isEmpty() ? Double.POSITIVE_INFINITY : found.get(0).seconds();
    Planning hybrids = DapplePlanner.planWithin(known, HOPE, costs, request, decides, stop);
    found.addAll(hybrids.candidates());
    List<Candidate> reordered =
        stop.getAsBoolean()
            ? List.of()
            : new HybridSchedules(costs, request, choices(request))
                .of(hybrids.candidates(), decides);
    boolean anyOrder = !reordered.isEmpty();
    found.addAll(reordered);
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    LowerBound bound = bound(costs, request.globalBatch(), hybrids, anyOrder, least);
    LayoutClimb climb = climb(costs, request, found, bound, decides, stop);
    climb.found(EFFORT.moves()).ifPresent(found::add);
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    Optional<Candidate> best = found.stream().findFirst();
    return new Planning(
        NAME,
        request.costModel().word(),
        best,
        found,
        bound,
        best.map(Binding::of).orElse("memory"),
        hybrids.serialSeconds(),
        new Search(
            false,
            plans + hybrids.search().labels() + climb.priced(),
            "equal pipelines with all schedules, and "
                + hybrids.search().space()
                + (anyOrder ? ", the best of these in all orders" : "")));
  }

  /** From the layouts of the best plans to neighbouring ones. */
  private static LayoutClimb climb(
      StageCosts costs,
      Request request,
      List<Candidate> found,
      LowerBound bound,
      Oracle decides,
      BooleanSupplier stop) {
    double known = found.isEmpty() ? Double.POSITIVE_INFINITY : found.get(0).seconds();
    int runs = OnePath.positions(costs.workload().chain()).length;
    Neighbours neighbours =
        new Neighbours(costs, request, choices(request), runs, OptionalInt.empty());
    LayoutClimb climb = new LayoutClimb(costs, request, neighbours, known, decides, stop);
    if (known > WORTHWHILE * bound.value()) {
      List<PipelinePlan> near = found.stream().limit(STARTS).map(Candidate::plan).toList();
      climb.search(neighbours.here(near), List.of(), CLIMBED, IN_VAIN, PASSES);
    }
    return climb;
  }

  /** Equal pipelines alone, those that fit. */
  static List<Candidate> pipelines(
      StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    return parts(costs).stream()
        .flatMap(part -> pipelines(part, request, stop).search(decides).stream())
        .toList();
  }

  /**
   * The cluster, and where its machines (the devices, where there is one machine) are no power of
   * two, as many of them as are one: batches and heads often divide by no other numbers.
   */
  private static List<StageCosts> parts(StageCosts costs) {
    Workload all = costs.workload();
    List<Integer> machines = all.cluster().groups().get(0);
    int several = Integer.highestOneBit(machines.size());
    int devices =
        machines.size() == 1
            ? Integer.highestOneBit(all.cluster().size())
            : machines.subList(0, several).stream().mapToInt(size -> size).sum();
    return devices == all.cluster().size()
        ? List.of(costs)
        : List.of(
            costs,
            costs.with(
                new Workload(
                    all.chain(), all.profile(), all.training(), all.cluster().first(devices))));
  }

  /** Whether equal pipelines are searched, too; otherwise hybrids alone. */
  public static boolean widely(Request request) {
    return request.costModel() == CostModel.PIPEWRIGHT && request.shape() == Shape.ANY;
  }

  private static EqualPipelines pipelines(StageCosts costs, Request request, BooleanSupplier stop) {
    EqualPipelines pipelines = new EqualPipelines(costs, request, choices(request), EFFORT, stop);
    for (Parallelism parallelism : GridKinds.of(costs.workload())) {
      pipelines.add(parallelism, List.of(ZeroStage.OPTIMIZER, ZeroStage.PARAMETERS));
    }
    return pipelines;
  }

  /** Why nothing fits, and what would help. */
  public static String sentence(StageCosts costs, Request request) {
    if (!widely(request)) {
      return Remedy.sentence(costs, request);
    }
    double least = pipelines(costs, request, () -> false).leastPeakBytes();
    return Remedy.sentence(costs, request, least);
  }

  /**
   * Of both kinds of plans.
   *
   * @param anyOrder whether hybrids run in other orders than 1F1B, too
   */
  private static LowerBound bound(
      StageCosts costs, int globalBatch, Planning hybrids, boolean anyOrder, double pipelines) {
    LowerBound ofHybrids =
        anyOrder ? LowerBounds.inAnyOrder(costs, globalBatch) : hybrids.lowerBound();
    boolean lower =
        pipelines < ofHybrids.value()
            || (Double.isFinite(pipelines)
                && FillingBound.holds(costs, globalBatch, anyOrder, pipelines));
    return lower ? new LowerBound(pipelines, ScheduledPlanner.BOUND) : ofHybrids;
  }

  /** All schedules that flush, as a request allows. */
  static List<Choice> choices(Request request) {
    boolean some = !request.policies().equals(List.of(PipelinePolicy.A, PipelinePolicy.B));
    List<Choice> choices = new ArrayList<>();
    for (ScheduleEntry entry : ScheduleCatalog.entries()) {
      boolean asked =
          PipelinePolicy.find(entry.name()).map(request.policies()::contains).orElse(!some);
      if (entry.isSynchronousPipeline() && asked && request.restriction().allows(entry.name())) {
        for (int chunks : entry.fixedChunks() ? List.of(entry.chunks()) : CHUNKS) {
          if (chunks >= entry.chunks()) {
            choices.add(new Choice(entry, chunks));
          }
        }
      }
    }
    choices.sort(Comparator.comparing(choice -> !choice.entry().name().equals(FIRST)));
    return choices;
  }
}

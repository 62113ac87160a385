package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Searches pipelines of any length on all devices of a cluster that have equally many devices on
 * each rank: over schedules, parallelism within layers, micro-batches and sharded states. Layers
 * are first cut into stages of balanced time ({@link
 * dev.pipewright.planner.partition.BlockPartition}); the cuts of the best are then moved.
 *
 * <p>Each grid of devices and micro-batches is priced with the first schedule, in the order of the
 * work of a rank and the time until work reaches the last one. The most promising ones, without the
 * bubble, are then priced with all other schedules. Left out is what takes longer than a known plan
 * by its work alone. For a pipeline of S stages and M micro-batches one price takes O(S · M).
 */
final class EqualPipelines {
  private static final List<Boolean> BOTH_WAYS = List.of(true, false);
  private static final List<Boolean> ONE_WAY = List.of(true);

  private final StageCosts costs;
  private final Request request;
  private final List<Choice> choices;
  private final Effort effort;
  private final BooleanSupplier stop;
  private final PipelineOracle oracle;
  private final List<Draft> drafts = new ArrayList<>();
  private final List<Priced> priced = new ArrayList<>();
  private double limit = Double.POSITIVE_INFINITY; // seconds of the best that fits
  private @Nullable String refusal; // of a schedule, for some numbers

  /**
   * How far to search.
   *
   * @param grids that are priced with all schedules
   * @param decided pipelines among which the simulator decides
   * @param improved the best of them, whose cuts are moved
   * @param moves plans that are priced for each of these
   */
  record Effort(int grids, int decided, int improved, int moves) {}

  /**
   * Devices and micro-batches.
   *
   * @param holds whether devices can hold the states
   * @param least seconds of the work of a rank
   * @param filling seconds until work reaches the last rank, where each has one stage
   * @param bubble seconds in which a rank waits for work, likewise
   */
  private record Draft(
      Grid grid,
      MicroBatching batching,
      boolean holds,
      double least,
      double filling,
      double bubble) {
    /** About the least that a step can take. */
    double rough() {
      return least + filling;
    }
  }

  private record Priced(Draft draft, ScheduledCuts cuts) {
    /** Without the bubble of a pipeline whose ranks have one stage each. */
    double promise() {
      return cuts.seconds() - draft.bubble();
    }

    static final Comparator<Priced> FASTEST =
        Comparator.comparing((Priced each) -> !each.cuts.fits())
            .thenComparingDouble(each -> each.cuts.seconds());
  }

  /**
   * Of some schedules.
   *
   * @param choices the first one for all grids
   * @param stop asked now and then; then the best so far counts
   */
  EqualPipelines(
      StageCosts costs,
      Request request,
      List<Choice> choices,
      Effort effort,
      BooleanSupplier stop) {
    this.costs = costs;
    this.request = request;
    this.choices = List.copyOf(choices);
    this.effort = effort;
    this.stop = stop;
    this.oracle = new PipelineOracle(costs, new PathFormula());
  }

  /**
   * Adds the grids whose groups divide layers so.
   *
   * @param parallelism which the layers allow
   * @param sharding of states, where ranks have several replicas
   */
  void add(Parallelism parallelism, List<ZeroStage> sharding) {
    DividedWork work = new DividedWork(costs, parallelism);
    int devices = costs.workload().cluster().size();
    int groups = devices / parallelism.parts();
    boolean given = request.stages().isPresent();
    int chunks = choices.get(0).chunks();
    for (MicroBatching batching : MicroBatching.of(request, groups)) {
      for (int ranks = 1; ranks <= groups && ranks * chunks <= costs.size(); ranks++) {
        int replicas = groups / ranks;
        boolean uses = given || ranks * replicas * parallelism.parts() == devices;
        boolean pipeline = ranks > 1 || devices == 1 || parallelism.several();
        if (uses
            && (pipeline || sharding.contains(ZeroStage.OPTIMIZER))
            && allows(ranks, replicas, parallelism, batching)) {
          add(ranks, replicas, work, batching, sharding);
        }
      }
    }
  }

  private boolean allows(int ranks, int replicas, Parallelism parallelism, MicroBatching batching) {
    boolean plain = request.shape().oneDevicePerStage();
    return request.allows(ranks)
        && replicas % batching.unit() == 0
        && replicas <= batching.samples()
        && (!plain || (!parallelism.several() && replicas == batching.unit()));
  }

  private void add(
      int ranks, int replicas, DividedWork work, MicroBatching batching, List<ZeroStage> sharding) {
    DividedWork.Seconds seconds = work.seconds(StageCosts.slice(batching.samples(), replicas));
    double least = batching.microBatches() * seconds.passes() / ranks;
    double filling = seconds.forward() * (ranks - 1) / ranks;
    double bubble = seconds.passes() * (ranks - 1) / ranks;
    int chunks = choices.get(0).chunks();
    double capacity = costs.workload().cluster().mostMemory().value();
    for (ZeroStage states : replicas > 1 ? sharding : List.of(ZeroStage.NOTHING)) {
      if (states == ZeroStage.PARAMETERS && ranks > 1) {
        continue; // gathered for each micro-batch of each rank
      }
      boolean holds = work.stateBytes(ranks, replicas, states) <= capacity;
      for (boolean neighbours : replicas > 1 && ranks > 1 ? BOTH_WAYS : ONE_WAY) {
        Grid grid = new Grid(ranks, replicas, work.parallelism(), neighbours, chunks, states);
        drafts.add(new Draft(grid, batching, holds, least, filling, bubble));
      }
    }
  }

  /**
   * Prices pipelines and moves the cuts of the best.
   *
   * @param decides among them
   * @return the best first; those that fit
   */
  List<Candidate> search(Oracle decides) {
    drafts.sort(
        Comparator.comparing((Draft draft) -> !draft.holds()).thenComparingDouble(Draft::rough));
    for (Draft draft : drafts) {
      price(draft, choices.get(0));
    }
    List<Priced> grids = new ArrayList<>(priced);
    grids.sort(
        Comparator.comparing((Priced each) -> !each.cuts().fits())
            .thenComparingDouble(Priced::promise));
    for (Priced grid : grids.subList(0, Math.min(effort.grids(), grids.size()))) {
      for (Choice choice : choices.subList(1, choices.size())) {
        price(grid.draft(), choice);
      }
    }
    priced.sort(Priced.FASTEST);
    List<ScheduledCuts> best =
        new ArrayList<>(priced.stream().limit(effort.decided()).map(Priced::cuts).toList());
    Map<ScheduledCuts, Double> simulated = new HashMap<>();
    best.forEach(cuts -> simulated.put(cuts, decides.assess(cuts.plan()).stepSeconds()));
    best.sort(
        Comparator.comparing((ScheduledCuts cuts) -> !cuts.fits()).thenComparing(simulated::get));
    best.stream().limit(effort.improved()).forEach(cuts -> cuts.improve(effort.moves(), stop));
    List<Candidate> found = new ArrayList<>();
    for (ScheduledCuts cuts : best) {
      if (cuts.fits()) {
        PipelinePlan plan = cuts.plan();
        found.add(candidate(plan, decides));
        if (plan.sharding() != ZeroStage.NOTHING) {
          found.add(candidate(plan.overlapping(!plan.overlapGradients()), decides));
        }
      }
    }
    found.removeIf(candidate -> !candidate.estimate().fits());
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    return different(found);
  }

  /** Of plans that share out layers and states alike the best. */
  private static List<Candidate> different(List<Candidate> sorted) {
    Set<List<Object>> seen = new HashSet<>();
    return sorted.stream()
        .filter(each -> seen.add(List.of(each.plan().summary(), each.plan().sharding())))
        .toList();
  }

  private void price(Draft draft, Choice choice) {
    boolean known = Double.isFinite(limit);
    boolean ended = known && (stop.getAsBoolean() || !draft.holds());
    boolean usual = choice.equals(choices.get(0)) || draft.grid().ranks() > 1;
    if (ended || !usual || draft.least() >= limit || shardsInVain(draft)) {
      return;
    }
    try {
      ScheduledCuts.balanced(
              choice.entry(),
              draft.grid().of(choice.chunks()),
              draft.batching(),
              costs,
              request.recomputation(),
              oracle)
          .ifPresent(cuts -> {
            cuts.price();
            priced.add(new Priced(draft, cuts));
            limit = cuts.fits() ? Math.min(limit, cuts.seconds()) : limit;
          });
    } catch (IllegalArgumentException e) { // the schedule is not for these numbers
      refusal = refusal == null ? e.getMessage() : refusal;
    }
  }

  /** Whether parameters need not be sharded: states of the optimizer suffice. */
  private boolean shardsInVain(Draft draft) {
    Grid less = draft.grid().sharding(ZeroStage.OPTIMIZER);
    return draft.grid().sharding() == ZeroStage.PARAMETERS
        && priced.stream()
            .filter(each -> each.draft().grid().equals(less))
            .filter(each -> each.draft().batching().equals(draft.batching()))
            .anyMatch(each -> each.cuts().fits() && each.cuts().keepsAll());
  }

  private Candidate candidate(PipelinePlan plan, Oracle decides) {
    Assessment estimate = oracle.assess(plan);
    return new Candidate(plan.kind(), plan, estimate, Optional.of(decides.assess(plan)));
  }

  /** Seconds that no pipeline can be faster than; infinite where no device holds the states. */
  double leastSeconds() {
    return drafts.stream()
        .filter(Draft::holds)
        .mapToDouble(Draft::least)
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /** Plans that were priced. */
  long plans() {
    return priced.stream().mapToLong(each -> each.cuts().priced()).sum();
  }

  /** Whether no pipeline could be priced. */
  boolean isEmpty() {
    return priced.isEmpty();
  }

  /** Why a schedule was not for some numbers. */
  Optional<String> refusal() {
    return Optional.ofNullable(refusal);
  }

  /** The least bytes of the fullest device of a pipeline. */
  double leastPeakBytes() {
    return priced.stream()
        .mapToDouble(each -> each.cuts().estimate().peakBytes())
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }
}

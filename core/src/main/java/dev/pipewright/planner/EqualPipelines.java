package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.ToDoubleFunction;
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
  private static final double LEAST_BUBBLE = 0.125;
  private static final List<Boolean> ONE_WAY = List.of(true);

  private final StageCosts costs;
  private final Request request;
  private final List<Choice> choices;
  private final Effort effort;
  private final BooleanSupplier stop;
  private final PipelineOracle oracle;
  private final List<Draft> drafts = new ArrayList<>();
  private final List<Priced> priced = new ArrayList<>();
  private final Set<List<Object>> tried = new HashSet<>(); // grids with other schedules
  private double limit = Double.POSITIVE_INFINITY; // seconds of the best that fits
  private @Nullable String refusal; // of a schedule, for some numbers

  /**
   * How far to search.
   *
   * @param grids that are priced with other schedules, too, by each promise
   * @param searched those of them that are priced with schedules made for durations
   * @param decided pipelines among which the simulator decides
   * @param improved the best of them, whose cuts are moved
   * @param moves plans that are priced for each of these
   */
  record Effort(int grids, int searched, int decided, int improved, int moves) {}

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

    /** Micro-batches by which it is priced. */
    MicroBatching few() {
      return batching.fewer(grid.ranks());
    }
  }

  /**
   * A pipeline with a schedule.
   *
   * @param cuts for fewer micro-batches
   */
  private record Priced(Draft draft, ScheduledCuts cuts) {
    static final Comparator<Priced> FASTEST =
        Comparator.comparing((Priced each) -> !each.fits()).thenComparingDouble(Priced::seconds);

    boolean fits() {
      return cuts.fits();
    }

    /** Of a step of all micro-batches: the busiest rank works in the middle of it, too. */
    double seconds() {
      return cuts.seconds()
          + (draft.batching().microBatches() - draft.few().microBatches())
              * RankWork.mostSeconds(cuts.plan(), cuts.estimate().stages());
    }

    /** The work of the busiest rank, and a bubble as small as {@value #LEAST_BUBBLE} of 1F1B's. */
    double work() {
      double work = RankWork.mostSeconds(cuts.plan(), cuts.estimate().stages());
      return draft.batching().microBatches() * work + LEAST_BUBBLE * draft.bubble();
    }

    /** Without the bubble of 1F1B and the sums of gradients. */
    double unfilled() {
      double sums =
          cuts.estimate().stages().stream()
              .mapToDouble(StageCost::exposedAllReduceSeconds)
              .max()
              .orElseThrow();
      return seconds() - draft.bubble() - sums;
    }
  }

  private record Decided(Priced priced, Candidate candidate) {
    static final Comparator<Decided> FASTEST =
        Comparator.comparingDouble(each -> each.candidate().seconds());
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
    List<Priced> grids = List.copyOf(priced);
    priceOthers(grids, Priced::unfilled);
    priceOthers(grids, Priced::work);
    priced.sort(Priced.FASTEST);
    List<Decided> found = new ArrayList<>();
    priced.stream()
        .limit(effort.decided())
        .filter(Priced::fits)
        .forEach(each -> decide(each, decides, found));
    found.sort(Decided.FASTEST);
    for (Decided each : List.copyOf(found.subList(0, Math.min(effort.improved(), found.size())))) {
      each.priced().cuts().improve(effort.moves(), stop);
      decide(each.priced(), decides, found);
    }
    found.sort(Decided.FASTEST);
    return different(found.stream().map(Decided::candidate).toList());
  }

  /**
   * Prices the most promising grids with other schedules, too.
   *
   * @param promise seconds that a step may take
   */
  private void priceOthers(List<Priced> grids, ToDoubleFunction<Priced> promise) {
    List<Priced> sorted = new ArrayList<>(grids);
    sorted.sort(Comparator.comparing((Priced each) -> !each.fits()).thenComparingDouble(promise));
    for (int i = 0; i < Math.min(effort.grids(), sorted.size()); i++) {
      Priced grid = sorted.get(i);
      boolean promises = !grid.fits() || promise.applyAsDouble(grid) < limit;
      for (Choice choice : choices.subList(1, choices.size())) {
        boolean quick = i < effort.searched() || !choice.entry().needsDurations();
        if (promises && quick && tried.add(List.of(grid.draft(), choice))) {
          price(grid.draft(), choice);
        }
      }
    }
  }

  /** Adds the plan for all micro-batches where it fits, and that with other sums of gradients. */
  private void decide(Priced each, Oracle decides, List<Decided> found) {
    PipelinePlan plan = each.cuts().with(each.draft().batching()).plan();
    for (boolean other : plan.sharding() == ZeroStage.NOTHING ? ONE_WAY : BOTH_WAYS) {
      PipelinePlan next = other ? plan : plan.overlapping(!plan.overlapGradients());
      Assessment estimate = oracle.assess(next);
      if (estimate.fits()) {
        Optional<Assessment> simulated = Optional.of(decides.assess(next));
        found.add(new Decided(each, new Candidate(next.kind(), next, estimate, simulated)));
      }
    }
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
              draft.few(),
              costs,
              request.recomputation(),
              oracle)
          .ifPresent(cuts -> {
            cuts.price();
            Priced each = new Priced(draft, cuts);
            priced.add(each);
            limit = each.fits() ? Math.min(limit, each.seconds()) : limit;
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

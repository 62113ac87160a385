package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.partition.BlockPartition;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.partition.PacedPartition;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.search.ScheduleSearch;
import dev.pipewright.schedule.search.SearchDepth;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A pipeline of one schedule whose cuts between stages can be moved. */
final class ScheduledCuts {
  private static final int LEAST_PRICED = 50; // plans

  private static final long MOST_PASSES = 500_000; // of all plans that are priced

  private static final int KICKS = 50;

  private static final int FARTHEST = 3; // layers

  private static final int MOST_TRIES = 4; // shares of recomputed layers

  private static final double MORE = 0.05; // of the layers

  private final ScheduleEntry entry;
  private final Grid grid;
  private final MicroBatching batching;
  private final Request request;
  private final PipelineOracle oracle;
  private final CutPlans plans;
  private final StageCosts costs;
  private final Map<List<Object>, ScheduleSearch> known;
  private final int[] path;
  private final PricedInput input;
  private final double[] weights; // seconds of each run of layers
  private int[] balanced;
  private @Nullable PricedCuts best; // once it is priced
  private final Set<List<Integer>> seen = new HashSet<>(); // cuts that were priced
  private int mostPriced;
  private BooleanSupplier stop = () -> false;
  private Worth worth = Worth.ANY;
  private boolean overlaps; // sums of gradients with the last backward pass

  private ScheduledCuts(
      ScheduleEntry entry,
      Grid grid,
      MicroBatching batching,
      Request request,
      PipelineOracle oracle,
      StageCosts costs,
      int[] path,
      double[] weights,
      int[] firsts,
      Map<List<Object>, ScheduleSearch> known) {
    this.known = known;
    this.weights = weights;
    this.costs = costs;
    this.entry = entry;
    this.grid = grid;
    this.batching = batching;
    this.request = request;
    this.oracle = oracle;
    this.path = path;
    this.plans = new CutPlans(grid, batching, request, path);
    this.overlaps = grid.overlaps() || (sharded() && entry.needsDurations());
    this.balanced = firsts;
    this.seen.add(Arrays.stream(firsts).boxed().toList());
    double[] again = new double[grid.stages()];
    Arrays.fill(again, request.recomputation().always() ? 1 : 0);
    this.input =
        new PricedInput(
            grid.ranks(),
            batching.microBatches(),
            grid.chunks(),
            oracle,
            once ->
                plans.plan(
                    once,
                    once.microBatches(),
                    best == null ? balanced : best.firsts(),
                    again,
                    overlaps),
            known);
  }

  /**
   * Makes the schedule and prices the plan.
   *
   * @throws IllegalArgumentException where there is no such schedule for these numbers
   */
  void price() {
    price(Worth.ANY, false, SearchDepth.FULL);
  }

  /**
   * The same, but where memory does not suffice without recomputation and a step with it is of no
   * worth, it does not recompute.
   *
   * @param lacks whether sums of gradients of sharded states overlap from the start
   * @param depth how far a schedule is searched for that needs durations
   */
  void price(Worth worth, boolean lacks, SearchDepth depth) {
    input.to(depth);
    overlaps |= lacks && sharded();
    this.worth = worth;
    ScheduleSpec order = order();
    if (paced(order.placement(balanced.length)) && entry.needsDurations()) {
      order = order();
    }
    best = priced(order, balanced);
    this.worth = Worth.ANY;
    input.to(SearchDepth.FULL);
  }

  /** Whether ranks differ in speed: then slower ones have shorter stages. */
  private boolean paced(Placement placement) {
    if (costs.workload().cluster().homogeneous() || placement.chains() > 1) {
      return false;
    }
    double[] paces = new double[balanced.length];
    Arrays.setAll(paces, stage -> grid.pace(placement.rankOf(stage), costs));
    if (Arrays.stream(paces).allMatch(pace -> pace == paces[0])) {
      return false;
    }
    balanced = PacedPartition.firsts(weights, paces);
    seen.clear(); // of the cuts for equal ranks, which were not priced
    seen.add(Arrays.stream(balanced).boxed().toList());
    return true;
  }

  /** By the closed form where there is one. */
  private ScheduleSpec order() {
    Optional<PipelinePolicy> policy = PipelinePolicy.find(entry.name());
    return policy.isPresent() ? policy.get() : FixedOrder.of(entry.make(input).named(entry.name()));
  }

  /** Stages of balanced time; empty where the network has too few layers on one path. */
  static Optional<ScheduledCuts> balanced(
      ScheduleEntry entry,
      Grid grid,
      MicroBatching batching,
      StageCosts costs,
      Recomputation recomputation,
      PipelineOracle oracle) {
    int[] path = OnePath.positions(costs.workload().chain());
    Request request =
        Request.of(batching.samples() * batching.microBatches()).recomputing(recomputation);
    return balanced(entry, grid, batching, costs, request, oracle, path, new HashMap<>());
  }

  /**
   * The same.
   *
   * @param path positions after which stages may end
   * @param known searches for schedules, also those that begin here
   */
  static Optional<ScheduledCuts> balanced(
      ScheduleEntry entry,
      Grid grid,
      MicroBatching batching,
      StageCosts costs,
      Request request,
      PipelineOracle oracle,
      int[] path,
      Map<List<Object>, ScheduleSearch> known) {
    Chain chain = costs.workload().chain();
    if (grid.stages() > path.length) {
      return Optional.empty();
    }
    Profile profile = oracle.part(grid.parallelism(), true).workload().profile();
    int slice = StageCosts.slice(batching.samples(), grid.replicas());
    double[] seconds = profile.seconds(Quantity.FORWARD, slice);
    double[] backward = profile.seconds(Quantity.BACKWARD, slice);
    Arrays.setAll(seconds, layer -> seconds[layer] + backward[layer]);
    double[] weights = OnePath.weights(chain, path, seconds);
    int[] firsts = BlockPartition.firsts(weights, grid.stages());
    return Optional.of(
        new ScheduledCuts(
            entry, grid, batching, request, oracle, costs, path, weights, firsts, known));
  }

  /**
   * The same cuts for other numbers of micro-batches.
   *
   * @throws IllegalArgumentException where there is no such schedule for these numbers
   */
  ScheduledCuts with(MicroBatching other) {
    ScheduledCuts made =
        new ScheduledCuts(
            entry, grid, other, request, oracle, costs, path, weights, best().firsts(), known);
    made.overlaps = overlaps;
    made.best = made.priced(made.order(), made.balanced);
    return made;
  }

  private PricedCuts best() {
    return Objects.requireNonNull(best, "it is priced before");
  }

  PipelinePlan plan() {
    return best().plan();
  }

  Assessment estimate() {
    return best().estimate();
  }

  double seconds() {
    return estimate().stepSeconds();
  }

  boolean fits() {
    return estimate().fits();
  }

  /** Plans that were priced. */
  int priced() {
    return seen.size();
  }

  /**
   * Moves single cuts, or else neighbouring ones together, for as long as the plan gets better;
   * then again from cuts at random near the best, a few times.
   *
   * @param most plans that are priced
   */
  void improve(int most, BooleanSupplier stop) {
    this.stop = stop;
    long passes = (long) balanced.length * batching.microBatches();
    mostPriced = (int) Math.min(most, Math.max(LEAST_PRICED, MOST_PASSES / passes));
    search();
    if (entry.needsDurations()) {
      remake();
    }
  }

  /** Makes the schedule again for the cuts that were found with the one for balanced cuts. */
  private void remake() {
    PricedCuts made = priced(order(), best().firsts());
    if (made.isBetterThan(best())) {
      best = made;
    }
  }

  private void search() {
    climb();
    SplittableRandom random = new SplittableRandom(1);
    for (int kick = 0; kick < KICKS && !ended(); kick++) {
      PricedCuts before = best();
      if (take(CutMoves.kicked(best().firsts(), path.length, random), true)) {
        climb();
        best = best().isBetterThan(before) ? best : before;
      }
    }
  }

  private boolean ended() {
    return stop.getAsBoolean() || seen.size() >= mostPriced;
  }

  /** To the best that no small move makes better. */
  private void climb() {
    while (improved(1, 1) || improved(1, FARTHEST) || improved(balanced.length, 1)) {
      // from the better cuts on
    }
  }

  /**
   * Whether some move makes it better.
   *
   * @param most cuts that move together
   * @param farthest layers by which they move
   */
  private boolean improved(int most, int farthest) {
    boolean better = false;
    for (int together = 1; together <= most; together++) {
      for (int cut = 1; cut + together <= balanced.length; cut++) {
        for (int move = -farthest; move <= farthest; move++) {
          better |= !ended() && take(CutMoves.moved(best().firsts(), cut, together, move), false);
        }
      }
    }
    return better;
  }

  /**
   * Takes other cuts if they are new and better.
   *
   * @param anyway whether worse ones will do
   */
  private boolean take(int[] other, boolean anyway) {
    if (!CutMoves.leavesNoStageEmpty(other, path.length)
        || !seen.add(Arrays.stream(other).boxed().toList())) {
      return false;
    }
    PricedCuts moved = priced(best().order(), other);
    if (!anyway && !moved.isBetterThan(best())) {
      return false;
    }
    best = moved;
    return true;
  }

  private boolean sharded() {
    return grid.sharding() != ZeroStage.NOTHING;
  }

  /**
   * The plan that keeps what fits: where a device has too little memory, sums of gradients overlap
   * with the last backward pass, which takes room for a bucket's instead of the stage's, and where
   * that is too little, too, stages recompute.
   */
  private PricedCuts priced(ScheduleSpec order, int[] firsts) {
    Recomputation recomputation = request.recomputation();
    double[] share = new double[firsts.length];
    Arrays.fill(share, recomputation.always() ? 1 : 0);
    PricedCuts kept = priced(order, firsts, share);
    if (!kept.fits() && !overlaps && sharded()) {
      overlaps = true;
      return priced(order, firsts);
    }
    if (recomputation.always() || recomputation == Recomputation.NEVER || kept.fits()) {
      return kept;
    }
    if (worth.excludes(kept)) {
      return kept;
    }
    Arrays.setAll(share, stage -> kept.peak(stage).fits() ? 0 : 1);
    PricedCuts again = priced(order, firsts, share);
    boolean some = recomputation == Recomputation.SELECTIVE && costs.total() && again.fits();
    return some ? partly(kept, again).orElse(again) : again;
  }

  /**
   * With as many layers of each stage recomputed as memory lacks, counted in shares of what the
   * whole stage spares, or a few more.
   */
  private Optional<PricedCuts> partly(PricedCuts kept, PricedCuts again) {
    double[] share = new double[again.firsts().length];
    for (int stage = 0; stage < share.length; stage++) {
      PeakMemory all = kept.peak(stage);
      double spared = all.peakBytes() - again.peak(stage).peakBytes();
      double lacking = all.peakBytes() - all.capacity().value();
      share[stage] = all.fits() ? 0 : lacking / spared;
    }
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      PricedCuts some = priced(again.order(), again.firsts(), share);
      if (some.fits()) {
        return Optional.of(some);
      }
      Arrays.setAll(
          share,
          stage -> some.peak(stage).fits() ? share[stage] : Math.min(1, share[stage] + MORE));
    }
    return Optional.empty();
  }

  private PricedCuts priced(ScheduleSpec order, int[] firsts, double[] share) {
    PipelinePlan plan = plans.plan(order, batching.microBatches(), firsts, share, overlaps);
    return new PricedCuts(order, firsts, plan, oracle.assess(plan));
  }
}

package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.partition.BlockPartition;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A pipeline of one schedule whose cuts between stages can be moved. */
final class ScheduledCuts {
  /**
   * Devices in equal ranks.
   *
   * @param each devices of a rank
   * @param neighbours whether the devices of a rank follow each other; otherwise those of a
   *     pipeline do
   * @param chunks stages of each rank and direction
   */
  record Grid(int ranks, int each, boolean neighbours, int chunks) {
    List<Integer> devices(int rank) {
      return IntStream.range(0, each)
          .mapToObj(i -> neighbours ? rank * each + i : i * ranks + rank)
          .toList();
    }
  }

  private static final int LEAST_PRICED = 50; // plans

  private static final int MOST_PRICED = 1_000;

  private static final long MOST_PASSES = 500_000; // of all plans that are priced

  private static final int KICKS = 50;

  private static final double LEAST_GAIN = 1 - 1e-9;

  private static final int FARTHEST = 3; // layers

  /**
   * A plan with its price.
   *
   * @param firsts of each stage, in positions of the path
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Priced(FixedOrder order, int[] firsts, PipelinePlan plan, Assessment estimate) {}

  private final ScheduleEntry entry;
  private final Grid grid;
  private final MicroBatching batching;
  private final Recomputation recomputation;
  private final PipelineOracle oracle;
  private final int[] path;
  private final PricedInput input;
  private final int[] balanced;
  private @Nullable Priced best; // once it is priced
  private final Set<List<Integer>> seen = new HashSet<>(); // cuts that were priced
  private final int mostPriced;
  private BooleanSupplier stop = () -> false;

  private ScheduledCuts(
      ScheduleEntry entry,
      Grid grid,
      MicroBatching batching,
      Recomputation recomputation,
      PipelineOracle oracle,
      int[] path,
      int[] firsts) {
    this.entry = entry;
    this.grid = grid;
    this.batching = batching;
    this.recomputation = recomputation;
    this.oracle = oracle;
    this.path = path;
    this.balanced = firsts;
    long passes = (long) firsts.length * batching.microBatches();
    this.mostPriced = Math.clamp(MOST_PASSES / passes, LEAST_PRICED, MOST_PRICED);
    this.seen.add(Arrays.stream(firsts).boxed().toList());
    boolean[] again = new boolean[grid.ranks()];
    Arrays.fill(again, recomputation.always());
    this.input =
        new PricedInput(
            grid.ranks(),
            batching.microBatches(),
            grid.chunks(),
            oracle,
            once -> plan(once, once.microBatches(), best == null ? firsts : best.firsts(), again));
  }

  /** About the least that a step can take, before the schedule is made. */
  double roughSeconds() {
    return input.roughSeconds();
  }

  /**
   * Makes the schedule and prices the plan.
   *
   * @throws IllegalArgumentException where there is no such schedule for these numbers
   */
  void price() {
    best = priced(order(), balanced);
  }

  private FixedOrder order() {
    return FixedOrder.of(entry.make(input).named(entry.name()));
  }

  /** Stages of balanced time; empty where the network has too few layers on one path. */
  static Optional<ScheduledCuts> balanced(
      ScheduleEntry entry,
      Grid grid,
      MicroBatching batching,
      StageCosts costs,
      Recomputation recomputation,
      PipelineOracle oracle) {
    Chain chain = costs.workload().chain();
    int[] path = OnePath.positions(chain);
    if ((long) grid.ranks() * grid.chunks() > path.length) {
      return Optional.empty();
    }
    int count = grid.ranks() * grid.chunks();
    Profile profile = costs.workload().profile();
    int slice = StageCosts.slice(batching.samples(), grid.each());
    double[] seconds = profile.seconds(Quantity.FORWARD, slice);
    double[] backward = profile.seconds(Quantity.BACKWARD, slice);
    Arrays.setAll(seconds, layer -> seconds[layer] + backward[layer]);
    int[] firsts = BlockPartition.firsts(OnePath.weights(chain, path, seconds), count);
    return Optional.of(
        new ScheduledCuts(entry, grid, batching, recomputation, oracle, path, firsts));
  }

  private Priced best() {
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
   */
  void improve(BooleanSupplier stop) {
    this.stop = stop;
    search();
    if (entry.needsDurations()) {
      remake();
    }
  }

  /** Makes the schedule again for the cuts that were found with the one for balanced cuts. */
  private void remake() {
    Priced made = priced(order(), best().firsts());
    if (better(made.estimate(), estimate())) {
      best = made;
    }
  }

  private void search() {
    climb();
    SplittableRandom random = new SplittableRandom(1);
    for (int kick = 0; kick < KICKS && !ended(); kick++) {
      Priced before = best();
      if (take(kicked(random), true)) {
        climb();
        best = better(estimate(), before.estimate()) ? best : before;
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
          int[] other = best().firsts().clone();
          for (int i = cut; i < cut + together; i++) {
            other[i] += move;
          }
          better |= !ended() && take(other, false);
        }
      }
    }
    return better;
  }

  /** Some cuts at other places. */
  private int[] kicked(SplittableRandom random) {
    int[] other = best().firsts().clone();
    for (int i = 0; i < 2; i++) {
      int cut = random.nextInt(1, Math.max(2, other.length));
      if (cut < other.length) {
        int from = other[cut - 1] + 1;
        int to = cut + 1 < other.length ? other[cut + 1] : path.length;
        other[cut] = random.nextInt(from, to);
      }
    }
    return other;
  }

  /**
   * Takes other cuts if they are new and better.
   *
   * @param anyway whether worse ones will do
   */
  private boolean take(int[] other, boolean anyway) {
    for (int cut = 1; cut <= other.length; cut++) {
      int end = cut < other.length ? other[cut] : path.length;
      if (other[cut - 1] >= end) {
        return false; // a stage without layers
      }
    }
    if (!seen.add(Arrays.stream(other).boxed().toList())) {
      return false;
    }
    Priced moved = priced(best().order(), other);
    if (!anyway && !better(moved.estimate(), estimate())) {
      return false;
    }
    best = moved;
    return true;
  }

  /** Less beyond the memory of the fullest device, or else a shorter step. */
  private static boolean better(Assessment one, Assessment other) {
    double beyond = beyond(one);
    return beyond < beyond(other) * LEAST_GAIN
        || (beyond == beyond(other) && one.stepSeconds() < other.stepSeconds() * LEAST_GAIN);
  }

  /** What the fullest device lacks, as a share of its memory; 0 where all stages fit. */
  private static double beyond(Assessment priced) {
    double fullest = priced.memory().stream().mapToDouble(PeakMemory::share).max().orElse(0);
    return Math.max(0, fullest - 1);
  }

  /** The plan that keeps what fits: ranks where something does not recompute whole stages. */
  private Priced priced(FixedOrder order, int[] firsts) {
    boolean[] again = new boolean[grid.ranks()];
    Arrays.fill(again, recomputation.always());
    PipelinePlan plan = plan(order, batching.microBatches(), firsts, again);
    Assessment estimate = oracle.assess(plan);
    if (recomputation.always() || recomputation == Recomputation.NEVER || estimate.fits()) {
      return new Priced(order, firsts, plan, estimate);
    }
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      again[plan.placement().rankOf(stage)] |= !estimate.memory().get(stage).fits();
    }
    PipelinePlan recomputing = plan(order, batching.microBatches(), firsts, again);
    return new Priced(order, firsts, recomputing, oracle.assess(recomputing));
  }

  private PipelinePlan plan(FixedOrder order, int microBatches, int[] cuts, boolean[] again) {
    Placement placement = order.placement(cuts.length);
    int[] inFlight = order.inFlight(cuts.length, microBatches);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < cuts.length; stage++) {
      int next = stage + 1 < cuts.length ? cuts[stage + 1] : path.length;
      int rank = placement.rankOf(stage);
      stages.add(
          new StagePlan(
              cuts[stage] == 0 ? 0 : path[cuts[stage] - 1] + 1,
              path[next - 1],
              grid.devices(rank),
              again[rank] ? recomputation.ofStage() : Recompute.NONE,
              inFlight[stage]));
    }
    return new PipelinePlan(
        order, microBatches, batching.microBatch(), batching.unit(), false, stages);
  }
}

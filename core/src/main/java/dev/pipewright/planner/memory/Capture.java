package dev.pipewright.planner.memory;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.LowerBounds;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.partition.CoarseCuts;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Hybrid plans of minimal peak memory for a target batch: how the layers are cut into stages, and
 * for each stage whether its devices share samples, tensors or both, and how many they are.
 *
 * <p>Source: CAPTURE (see the package; its background, §II). Departs: the peaks come from the model
 * of {@link HybridCosts} or, for pipelines alone, from measurements ({@link LayerPeaks}), and know
 * the schedule, where its authors' do not tell 1F1B from GPipe; both searches are exact ({@link
 * LeastPeak}, {@link FastestWithin}), where theirs reports the best of a sampled space; and step
 * time, by the longest path through the step, gives the plans between the smallest and the fastest.
 */
public final class Capture {
  /** Above this many positions plans are made fast in blocks of layers. */
  private static final int FINE = 64;

  /** The planner's name. */
  public static final String NAME = "capture";

  private static final double ROUNDING = 1e-9;
  private static final int POINTS = 12; // plans of a front
  private static final long BUDGET = 1_000_000; // partial pipelines of each search for speed

  private final StageCosts network;
  private final StageCosts costs; // cut on one path through its branches
  private final Oracle oracle;
  private final Request request;
  private final Limits limits;
  private final BooleanSupplier stop;
  private final double capacity;
  private final List<HybridRound> rounds = new ArrayList<>();
  private final List<HybridRecomputation> reliefs = new ArrayList<>();
  private boolean exhaustive = true;

  /**
   * How far to search.
   *
   * @param mostTensor the largest tensor degree: that of a machine, or 1 for none
   * @param points plans that lie between the smallest peak and the fastest step, at most; {@link
   *     Integer#MAX_VALUE} for all of them
   * @param budget partial pipelines that each search for speed may build
   */
  public record Limits(int mostTensor, int points, long budget) {
    public Limits {
      Check.that(mostTensor >= 1, "the tensor degree must be >= 1: most_tensor=%d", mostTensor);
      Check.that(points >= 1, "at least one plan is wanted: points=%d", points);
    }
  }

  private Capture(StageCosts network, Request request, Limits limits, BooleanSupplier stop) {
    Check.that(
        request.costModel() == CostModel.PIPEWRIGHT,
        "plans of minimal memory have the cost model %s, not %s",
        CostModel.PIPEWRIGHT.word(),
        request.costModel().word());
    this.network = network;
    this.costs = CoarseCuts.onePath(network);
    this.oracle = new PipelineOracle(network, new PathFormula());
    this.request = request.recomputing(request.recomputation().ofLayers());
    this.limits = limits;
    this.stop = stop;
    this.capacity = costs.workload().cluster().leastMemory().value();
  }

  /**
   * Searches all devices, or where there are too few samples and layers for all, as many as can be
   * used.
   *
   * @param stop asked often; from the first yes on the search returns what it has
   */
  public static Planning plan(
      StageCosts costs, Request request, Limits limits, BooleanSupplier stop) {
    return new Capture(costs, request, limits, stop).run();
  }

  /** The same with tensor parallelism within a machine, and as far as an answer takes seconds. */
  public static Planning plan(StageCosts costs, Request request, BooleanSupplier stop) {
    int machine = costs.workload().cluster().groups().get(0).get(0);
    return plan(costs, request, new Limits(machine, POINTS, BUDGET), stop);
  }

  private Planning run() {
    Candidate smallest = smallest();
    List<Candidate> found = new ArrayList<>(List.of(smallest));
    double least = smallest.peakBytes();
    LowerBound bound =
        new LowerBound(
            least,
            request.recomputation() == Recomputation.SELECTIVE
                ? "the least of all cuts, kinds, degrees and recomputed layers, by dynamic"
                    + " programming"
                : "the least of all cuts, kinds and degrees, by dynamic programming");
    boolean fits = least <= capacity;
    if (fits) {
      between(found, least);
      exhaustive &= reliefs.stream().allMatch(HybridRecomputation::exact);
    }
    List<Candidate> front = fits ? front(found) : found;
    Candidate best = front.get(0);
    return new Planning(
        NAME,
        Objective.PEAK_MEMORY,
        CostModel.PIPEWRIGHT.word(),
        fits ? Optional.of(best) : Optional.empty(),
        front,
        bound,
        PeakBinding.of(best, capacity),
        LowerBounds.oneDeviceSeconds(network, request.globalBatch(), CostModel.PIPEWRIGHT),
        new Search(exhaustive, 0, "cuts, data and tensor parallelism of each stage"));
  }

  /** Of all schedules and micro-batches. */
  private Candidate smallest() {
    HybridRecomputation whole = relief(costs);
    int most = Math.max(FINE, 2 * request.stages().orElse(0));
    HybridRecomputation blocks =
        costs.size() > most ? relief(CoarseCuts.blocks(costs, weights(), most)) : whole;
    exhaustive = whole == blocks;
    Optional<Candidate> least = Optional.empty();
    int fewest = request.stages().orElse(1);
    Check.that(
        fewest <= Math.min(costs.size(), costs.workload().cluster().size()),
        "%d stages need as many layers on one path and devices; there are %d and %d",
        fewest,
        costs.size(),
        costs.workload().cluster().size());
    for (int devices = costs.workload().cluster().size(); least.isEmpty(); devices--) {
      for (PipelinePolicy policy : request.policies()) {
        for (int samples = 1; samples <= request.globalBatch(); samples++) {
          if (request.allowsMicroBatch(samples)) {
            HybridRound fine = round(whole, policy, samples, devices);
            HybridRound coarse = whole == blocks ? fine : round(blocks, policy, samples, devices);
            rounds.add(coarse);
            least = smaller(least, coarse);
            least = whole == blocks ? least : smaller(least, fine);
          }
        }
      }
      if (least.isEmpty()) {
        rounds.clear();
      }
    }
    return least.orElseThrow();
  }

  /** The share of each end's positions in the work and in the memory, added. */
  private double[] weights() {
    int size = costs.size();
    double[] seconds = costs.cheapestSecondsPerSample(1);
    double all = costs.staticBytes(0, size) + costs.heldBytes(0, size, 1);
    double[] weights = new double[size + 1];
    for (int end = 1; end <= size; end++) {
      double bytes = costs.staticBytes(0, end) + costs.heldBytes(0, end, 1);
      weights[end] =
          (all > 0 ? bytes / all : 0) + (seconds[size] > 0 ? seconds[end] / seconds[size] : 0);
    }
    return weights;
  }

  /** The smallest peak; among equals the shortest step. */
  private static Optional<Candidate> smaller(Optional<Candidate> known, HybridRound round) {
    double limit = known.map(Candidate::peakBytes).orElse(Double.POSITIVE_INFINITY);
    Optional<Candidate> found = LeastPeak.of(round, limit);
    if (known.isEmpty() || found.isEmpty()) {
      return found.or(() -> known);
    }
    return found.get().peakBytes() < limit || found.get().seconds() < known.get().seconds()
        ? found
        : known;
  }

  private HybridRecomputation relief(StageCosts of) {
    HybridRecomputation made =
        new HybridRecomputation(new HybridCosts(of), request.recomputation());
    reliefs.add(made);
    return made;
  }

  private HybridRound round(
      HybridRecomputation of, PipelinePolicy policy, int samples, int devices) {
    return new HybridRound(
        oracle,
        of.costs(),
        of,
        policy,
        request.globalBatch() / samples,
        samples,
        devices,
        limits.mostTensor(),
        request.stages());
  }

  /** From the fastest on always the fastest within less memory, down to the least. */
  private void between(List<Candidate> found, double least) {
    double cap = capacity;
    double step = 0;
    for (boolean more = true; more; ) {
      Optional<Candidate> next = fastest(cap);
      if (next.isEmpty()) {
        break;
      }
      double peak = next.get().peakBytes();
      found.add(next.get());
      if (step == 0) {
        step =
            limits.points() == Integer.MAX_VALUE
                ? 1
                : Math.pow(least / peak, 1.0 / limits.points());
      }
      double below = rounds() ? peak * (1 - ROUNDING) : Math.nextDown(peak);
      more = rounds() ? below > least : peak > least;
      cap = Math.max(least, Math.min(below, peak * step));
    }
  }

  /** Whether caps are kept but for rounding. */
  private boolean rounds() {
    return request.recomputation() != Recomputation.NEVER;
  }

  private Optional<Candidate> fastest(double cap) {
    Optional<Candidate> best = Optional.empty();
    double limit = Double.POSITIVE_INFINITY;
    for (HybridRound round : rounds) {
      FastestWithin.Found one = FastestWithin.of(round, cap, limit, limits.budget(), stop);
      exhaustive &= one.exhaustive();
      if (one.plan().isPresent()) {
        best = one.plan();
        limit = best.get().seconds();
      }
    }
    return best;
  }

  /** Those that no other beats in both, the smallest peak first. */
  private static List<Candidate> front(List<Candidate> found) {
    List<Candidate> sorted = new ArrayList<>(found);
    sorted.sort(
        Comparator.comparingDouble(Candidate::peakBytes).thenComparingDouble(Candidate::seconds));
    List<Candidate> front = new ArrayList<>();
    double seconds = Double.POSITIVE_INFINITY;
    for (Candidate plan : sorted) {
      if (plan.seconds() < seconds) {
        front.add(plan);
        seconds = plan.seconds();
      }
    }
    return front;
  }
}

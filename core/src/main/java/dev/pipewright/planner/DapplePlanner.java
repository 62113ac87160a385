package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The best synchronous hybrid of data and pipeline parallelism.
 *
 * <p>Paper: S. Fan et al., <i>DAPPLE: A Pipelined Data Parallel Approach for Training Large
 * Models</i>, PPoPP 2021, §IV. The space is the paper's: any number of stages with uneven cuts, any
 * replication of each, the three placement policies in any composition, copies of the whole
 * pipeline, recomputation where memory demands it, pure data parallelism with and without
 * overlapped all-reduce, straight pipelines. Departs: the number of micro-batches is chosen too
 * unless given; the search is exact (see {@link PipelineSearch}); the best few are decided by a
 * second oracle.
 */
public final class DapplePlanner {
  /** The first pass also collects plans up to this factor slower, for the simulator to decide. */
  private static final double NEARLY_AS_GOOD = 1.02;

  /** On more devices hybrids are not searched next to a known plan. */
  private static final int MOST_DEVICES = 4_096;

  /** Likewise. */
  private static final int MOST_MACHINES = 512;

  /** Partial plans of the wide pass next to a known plan. */
  private static final long LABELS_WITHIN = 4_000_000;

  private final StageCosts costs;
  private final StageCosts searched;
  private final Request request;
  private final BooleanSupplier stop;
  private final boolean exact;
  private final Oracle estimates;
  private final Optional<SelectiveRecomputation> selective; // of searched positions
  private final Drafts drafts;
  private final boolean repo;
  private final List<Candidate> candidates = new ArrayList<>();
  private double limit = Double.POSITIVE_INFINITY;
  private int pipelines; // that hold as much as their schedule wants
  private boolean exhaustive = true;
  private long mostLabels = Long.MAX_VALUE; // of the wide pass
  private boolean large;
  private boolean hopeless; // whether hybrids are not searched next to a known plan
  private String placements = "";
  private long labels;

  private DapplePlanner(StageCosts costs, Request request, BooleanSupplier stop, boolean exact) {
    this.costs = costs;
    this.exact = exact;
    this.searched = exact ? costs : Effort.searched(costs, request.stages().orElse(1));
    this.request = request;
    this.stop = stop;
    this.estimates = request.costModel().oracle(costs, request.globalBatch());
    this.repo = request.costModel() == CostModel.DAPPLE_REPO;
    this.selective = SelectiveRecomputation.of(costs, searched, request.recomputation());
    this.drafts = new Drafts(costs, searched, selective, request.recomputation());
  }

  /**
   * Plans with the effort that the instance's size allows.
   *
   * <p>Throws for {@link CostModel#DAPPLE_PUBLISHED}, which only scores given plans.
   *
   * @param decides chooses among the best few; a simulator
   */
  public static Planning plan(StageCosts costs, Request request, Oracle decides) {
    return plan(costs, request, decides, () -> false);
  }

  /**
   * The same, with an end: what is best by then.
   *
   * @param stop asked now and then whether to end with the best so far
   */
  public static Planning plan(
      StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    return of(costs, request, stop, false).run(decides);
  }

  /**
   * The same for pipelines that are nearly as fast as a plan that is known, or faster; without a
   * best plan where there is none, and without a search where the lower bound says so or the
   * cluster is too large.
   *
   * @param seconds that the known plan takes
   * @param hope how many times as long pipelines may take before their cuts are moved
   */
  static Planning planWithin(
      double seconds,
      double hope,
      StageCosts costs,
      Request request,
      Oracle decides,
      BooleanSupplier stop) {
    DapplePlanner planner = of(costs, request, stop, false);
    planner.limit = seconds * hope;
    planner.mostLabels = LABELS_WITHIN;
    boolean ended = Double.isFinite(seconds) && stop.getAsBoolean();
    planner.large = isLarge(costs.workload().cluster());
    planner.hopeless = planner.large || ended || planner.bound().value() >= seconds;
    return planner.run(decides);
  }

  /**
   * Plans until the best is proven under the cost model: first as {@link #plan} does, then, where
   * that left anything out, with all layers, stage sizes and placements, as long as it takes and as
   * memory lasts. What was left out is said ({@link Planning#search}).
   *
   * @param stop asked now and then whether to end with the best so far
   */
  public static Planning exact(
      StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    Planning usual = of(costs, request, stop, false).run(decides);
    DapplePlanner exact = of(costs, request, stop, true);
    return usual.search().exhaustive() ? usual.by("exact") : exact.from(usual).run(decides);
  }

  /** Begins with what another search found. */
  private DapplePlanner from(Planning usual) {
    for (Candidate candidate : usual.candidates()) {
      PipelinePlan plan = candidate.plan();
      candidates.add(Decision.estimated(plan, estimates));
      boolean searched = !plan.overlapGradients();
      limit = searched ? Math.min(limit, candidate.estimate().stepSeconds()) : limit;
      pipelines += searched && holdsAll(plan) ? 1 : 0;
    }
    return this;
  }

  private static boolean holdsAll(PipelinePlan plan) {
    int[] wanted = plan.spec().inFlight(plan.stages().size(), plan.microBatches());
    return Arrays.equals(wanted, plan.inFlight());
  }

  private static DapplePlanner of(
      StageCosts costs, Request request, BooleanSupplier stop, boolean exact) {
    Check.that(
        request.costModel() != CostModel.DAPPLE_PUBLISHED,
        "%s only scores plans: a step may cost less than its work, so the best plan makes no sense",
        request.costModel().word());
    return new DapplePlanner(costs, request, stop, exact);
  }

  private static boolean isLarge(Cluster cluster) {
    return cluster.size() > MOST_DEVICES || cluster.machines() > MOST_MACHINES;
  }

  private LowerBound bound() {
    LowerBound known = LowerBounds.best(costs, request.globalBatch(), request.costModel());
    return request.costModel() == CostModel.PIPEWRIGHT
        ? FillingBound.raised(known, costs, request.globalBatch(), false)
        : known;
  }

  private Planning run(Oracle decides) {
    if (!hopeless) {
      search(trials(false));
    }
    if (!hopeless && pipelines == 0) {
      search(trials(true)); // holding fewer micro-batches than wanted is the last resort
    }
    if (!repo && request.allows(1) && !request.shape().oneDevicePerStage()) {
      dataParallel();
    }
    if (!repo && request.allows(1)) {
      OneDevice.best(costs, request, estimates)
          .ifPresent(alone -> candidates.add(Decision.estimated(alone.plan(), estimates)));
    }
    List<Candidate> decided =
        repo // its scores are the objective
            ? Decision.ranked(candidates)
            : new Decision(costs, estimates, decides, fewer(), stop).decide(candidates);
    boolean fits = !decided.isEmpty();
    return new Planning(
        exact ? "exact" : "dapple",
        request.costModel().word(),
        fits ? Optional.of(decided.get(0)) : Optional.empty(),
        decided,
        bound(),
        fits ? Binding.of(decided.get(0)) : "memory",
        LowerBounds.oneDeviceSeconds(costs, request.globalBatch(), request.costModel()),
        new Search(exhaustive && searched.size() == costs.size(), labels, space()));
  }

  /** Of all positions. */
  private Optional<SelectiveRecomputation> fewer() {
    return searched == costs
        ? selective
        : SelectiveRecomputation.of(costs, costs, request.recomputation());
  }

  private String space() {
    if (hopeless) {
      return large
          ? "data parallelism, hybrids left out on so many devices"
          : "hybrids, as far as time and the lower bound leave them in";
    }
    return searched.size() == costs.size()
        ? placements
        : placements + ", layers in " + searched.size() + " blocks";
  }

  /** A narrow pass over all trials brings the limit down, a wide one finishes what is left. */
  private void search(List<Trial> trials) {
    trials.sort(Comparator.comparingDouble(Trial::guess));
    for (Trial trial : trials) {
      trial.firstGuess.ifPresent(found -> add(trial, found));
    }
    for (Trial trial : trials) {
      search(trial, PipelineSearch.NARROW, Long.MAX_VALUE, limit * (repo ? 1 : NEARLY_AS_GOOD));
    }
    long budget = Math.min(mostLabels, Effort.budget(searched));
    long unfinished = trials.stream().filter(trial -> !trial.finished()).count();
    for (Trial trial : trials) {
      if (!trial.finished()) {
        long before = trial.labels();
        long share = exact ? Long.MAX_VALUE : Effort.share(searched, budget, unfinished--);
        search(trial, Integer.MAX_VALUE, share, limit);
        budget -= trial.labels() - before;
      }
      exhaustive &= trial.finished();
      exhaustive &= trial.space().everyPlacement();
      exhaustive &= selective.isEmpty() || selective.get().exact();
      placements = trial.space().words();
      labels += trial.labels();
    }
  }

  private void search(Trial trial, int beam, long budget, double within) {
    for (Found found : trial.search(beam, budget, within, stop)) {
      add(trial, found);
    }
  }

  private void add(Trial trial, Found found) {
    limit = Math.min(limit, found.seconds());
    pipelines++;
    if (found.seconds() <= limit * NEARLY_AS_GOOD) {
      Candidate candidate =
          Decision.estimated(drafts.plan(trial.microBatching, trial.policy, found), estimates);
      if (repo || candidate.estimate().fits()) { // rounding may decide otherwise than the search's
        candidates.add(candidate);
      }
    }
  }

  private List<Trial> trials(boolean throttle) {
    Cluster cluster = costs.workload().cluster();
    List<Trial> trials = new ArrayList<>();
    Map<Integer, PlacementCosts> byUnit = new HashMap<>();
    for (MicroBatching microBatching : MicroBatching.of(request, cluster.size())) {
      PlacementCosts placements =
          byUnit.computeIfAbsent(
              microBatching.unit(), unit -> new PlacementCosts(costs, space(unit)));
      PlacementSpace space = placements.space();
      int most =
          switch (request.shape()) {
            case DATA_PARALLEL -> 1;
            case TWO_STAGES -> Math.min(2, searched.size());
            default -> Math.min(searched.size(), cluster.size() / microBatching.unit());
          };
      int least = request.stages().orElse(1);
      if (least > most) {
        continue;
      }
      if (repo) {
        int stages = request.stages().orElse(most);
        DappleRepoOracle scores = new DappleRepoOracle(searched);
        StagePricer pricer =
            new RepoPricer(searched, scores, space, microBatching, request.globalBatch(), stages);
        trials.add(
            new Trial(microBatching, PipelinePolicy.A, searched, space, pricer, least, stages));
        continue;
      }
      MicroBatchingBounds bounds =
          new MicroBatchingBounds(
              searched,
              microBatching,
              space,
              request.recomputation(),
              selective.orElse(null),
              throttle ? List.of() : request.policies());
      for (PipelinePolicy policy : request.policies()) {
        StagePricer pricer =
            new FormulaPricer(
                searched,
                request,
                placements,
                policy,
                selective.orElse(null),
                throttle,
                bounds,
                microBatching);
        trials.add(
            new Trial(
                microBatching,
                policy,
                searched,
                space,
                pricer,
                least,
                request.stages().orElse(most)));
      }
    }
    return trials;
  }

  private PlacementSpace space(int unit) {
    Cluster cluster = costs.workload().cluster();
    int[] sizes =
        request.shape().oneDevicePerStage() ? new int[] {unit} : stageSizes(cluster, unit);
    return new PlacementSpace(cluster, unit, sizes, !repo, Effort.states(exact));
  }

  private int[] stageSizes(Cluster cluster, int unit) {
    return exact ? PlacementSpace.allCounts(cluster, unit) : Effort.stageSizes(cluster, unit);
  }

  /** The best data parallelism, and the best whose all-reduce overlaps. */
  private void dataParallel() {
    List<Candidate> plain = new ArrayList<>();
    List<Candidate> overlapped = new ArrayList<>();
    Cluster cluster = costs.workload().cluster();
    for (MicroBatching microBatching : MicroBatching.of(request, cluster.size())) {
      for (int count : stageSizes(cluster, microBatching.unit())) {
        if (microBatching.samples() % count != 0 && count < cluster.size()) {
          continue; // slices would be uneven, on fewer devices than there are
        }
        drafts
            .dataParallel(microBatching, count, request.policies().get(0))
            .ifPresent(plan -> {
              plain.add(Decision.estimated(plan, estimates));
              overlapped.add(Decision.estimated(plan.overlapping(true), estimates));
            });
      }
    }
    for (List<Candidate> same : List.of(plain, overlapped)) {
      same.stream()
          .filter(candidate -> candidate.estimate().fits())
          .min(Comparator.comparingDouble(Candidate::seconds))
          .ifPresent(candidates::add);
    }
  }
}

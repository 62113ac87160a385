package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.schedule.WarmUp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
  private static final int BEST_FEW = 8;

  /**
   * Partial plans for each number of layers left in the first pass, which finds a good upper bound.
   */
  private static final int FIRST_BEAM = 8;

  /** Enough to see whether anything fits. */
  private static final int QUICK_BEAM = 4;

  /** The first pass also collects plans up to this factor slower, for the simulator to decide. */
  private static final double NEARLY_AS_GOOD = 1.02;

  private final StageCosts costs;
  private final Request request;
  private final Oracle estimates;
  private final Oracle decides;
  private final int beam;
  private final List<Candidate> candidates = new ArrayList<>();
  private double limit = Double.POSITIVE_INFINITY;
  private boolean exhaustive = true;
  private boolean everyPlacement = true;
  private long labels;

  private DapplePlanner(StageCosts costs, Request request, Oracle decides, int beam) {
    this.costs = costs;
    this.request = request;
    this.estimates = request.costModel().oracle(costs);
    this.decides = decides;
    this.beam = beam;
  }

  /**
   * Plans with the effort that the instance's size allows.
   *
   * @param decides chooses among the best few; a simulator
   */
  public static Planning plan(StageCosts costs, Request request, Oracle decides) {
    return new DapplePlanner(costs, request, decides, Effort.beam(costs)).run();
  }

  private Planning run() {
    search(trials(false));
    if (candidates.isEmpty()) {
      search(trials(true)); // holding fewer micro-batches than wanted is the last resort
    }
    overlappedDataParallel();
    decide();
    boolean fits = !candidates.isEmpty();
    String space = everyPlacement ? "every placement" : "fresh, append and scatter first";
    return new Planning(
        "dapple",
        request.costModel().word(),
        fits ? Optional.of(candidates.get(0)) : Optional.empty(),
        candidates,
        lowerBound(costs, request.globalBatch(), request.costModel()),
        fits ? Binding.of(candidates.get(0)) : "memory",
        serialSeconds(costs, request.globalBatch()),
        new Search(exhaustive, labels, space));
  }

  private void search(List<Trial> trials) {
    trials.sort(Comparator.comparingDouble(trial -> trial.firstGuess));
    for (Trial trial : trials) {
      limit = Math.min(limit, trial.firstGuess);
    }
    double slack = request.costModel() == CostModel.DAPPLE_REPO ? 1 : NEARLY_AS_GOOD;
    for (Trial trial : trials) {
      search(trial, Math.min(beam, FIRST_BEAM), limit * slack);
    }
    for (Trial trial : trials) {
      if (!trial.done) {
        search(trial, beam, limit);
      }
      exhaustive &= trial.done;
    }
  }

  /** One way to cut the batch under one schedule. */
  private static final class Trial {
    final Wave wave;
    final WarmUp policy;
    final PlacementSpace space;
    final StagePricer pricer;
    final int mostStages;
    final double firstGuess;
    boolean done; // whether nothing was left out

    Trial(
        Wave wave,
        WarmUp policy,
        PlacementSpace space,
        StagePricer pricer,
        int mostStages,
        double firstGuess) {
      this.wave = wave;
      this.policy = policy;
      this.space = space;
      this.pricer = pricer;
      this.mostStages = mostStages;
      this.firstGuess = firstGuess;
    }

    /** Whether no plan at all can be within a limit. */
    boolean hopeless(StageCosts costs, double limit) {
      double[] nothing = new double[pricer.width()];
      pricer.nothing(nothing, 0);
      return pricer.bound(nothing, 0, costs.size(), space.freeDevices(space.start())) > limit;
    }
  }

  private List<Trial> trials(boolean throttle) {
    Cluster cluster = costs.workload().cluster();
    List<Trial> trials = new ArrayList<>();
    Map<Integer, PlacementCosts> byUnit = new HashMap<>();
    for (Wave wave : Wave.of(request, cluster.size())) {
      PlacementCosts placements =
          byUnit.computeIfAbsent(wave.unit(), unit -> new PlacementCosts(costs, space(unit)));
      PlacementSpace space = placements.space();
      everyPlacement &= space.everyPlacement();
      int most = mostStages(wave.unit());
      double[] work = costs.cheapestSecondsPerSample(wave.samples());
      if (request.costModel() == CostModel.DAPPLE_REPO) {
        int stages = Math.min(most, wave.microBatches());
        StagePricer pricer = repoPricer(wave, space, stages);
        double guess = EvenSplits.best(costs.workload().chain(), space, pricer, work, stages);
        trials.add(new Trial(wave, WarmUp.A, space, pricer, stages, guess));
        continue;
      }
      WaveBounds bounds = new WaveBounds(costs, wave);
      for (WarmUp policy : request.policies()) {
        StagePricer pricer =
            new FormulaPricer(
                costs,
                request.costModel().formula(),
                placements,
                policy,
                request.recomputation(),
                throttle,
                bounds,
                wave.samples(),
                wave.microBatches());
        double guess = EvenSplits.best(costs.workload().chain(), space, pricer, work, most);
        trials.add(new Trial(wave, policy, space, pricer, most, guess));
      }
    }
    return trials;
  }

  private int mostStages(int unit) {
    int devices = costs.workload().cluster().size();
    return request.shape() == Shape.DATA_PARALLEL ? 1 : Math.min(costs.size(), devices / unit);
  }

  private PlacementSpace space(int unit) {
    Cluster cluster = costs.workload().cluster();
    boolean spreadMatters = request.costModel() != CostModel.DAPPLE_REPO;
    int[] sizes =
        request.shape() == Shape.STRAIGHT ? new int[] {unit} : Effort.stageSizes(cluster, unit);
    return new PlacementSpace(cluster, unit, sizes, spreadMatters);
  }

  private StagePricer repoPricer(Wave wave, PlacementSpace space, int mostStages) {
    return new RepoPricer(
        costs,
        (DappleRepoOracle) estimates,
        space,
        wave.unit(),
        wave.microBatch(),
        wave.microBatches(),
        mostStages);
  }

  private void search(Trial trial, int width, double within) {
    if (trial.hopeless(costs, within)) {
      trial.done = true;
      return;
    }
    trial.pricer.prepare(within);
    if (trial.hopeless(costs, within)) {
      trial.done = true;
      return;
    }
    PipelineSearch search =
        new PipelineSearch(
            costs.workload().chain(), trial.space, trial.pricer, trial.mostStages, width, within);
    List<Found> found = search.run();
    trial.done = search.exhaustive();
    labels += search.built();
    for (Found pipeline : found) {
      limit = Math.min(limit, pipeline.seconds());
      add(plan(trial.wave, trial.policy, pipeline));
    }
  }

  private void add(Plan plan) {
    Assessment estimate = estimates.assess(plan);
    candidates.add(new Candidate(kind(plan), plan, estimate, Optional.empty()));
  }

  private Plan plan(Wave wave, WarmUp policy, Found found) {
    List<StagePlan> stages = new ArrayList<>();
    int ahead = Integer.MAX_VALUE;
    for (int s = 0; s < found.stages(); s++) {
      int end = s + 1 < found.stages() ? found.firsts()[s + 1] : costs.size();
      Recompute recompute = found.recompute()[s] ? Recompute.STAGE_INPUT : Recompute.NONE;
      int wanted = policy.inFlightOf(found.stages() - 1 - s, wave.microBatches());
      List<Integer> devices = found.devices().get(s);
      int slice = StageCosts.slice(wave.samples(), devices.size());
      int room = room(found.firsts()[s], end, recompute, slice, devices, wanted);
      ahead =
          Math.max(
              1, Math.min(ahead, Math.min(wanted, room))); // more than the stage before never comes
      stages.add(new StagePlan(found.firsts()[s], end - 1, devices, recompute, ahead));
    }
    return new Plan(policy, wave.microBatches(), wave.microBatch(), wave.unit(), false, stages);
  }

  /** How many micro-batches of those wanted a stage can hold. */
  private int room(
      int first, int end, Recompute recompute, int slice, List<Integer> devices, int wanted) {
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : devices) {
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    boolean again = recompute == Recompute.STAGE_INPUT;
    double rest =
        costs.staticBytes(first, end) + (again ? costs.recomputedBytes(first, end, slice) : 0);
    double each = again ? costs.inputBytes(first, slice) : costs.heldBytes(first, end, slice);
    return rest + wanted * each <= capacity ? wanted : (int) ((capacity - rest) / each);
  }

  /** What a plan is called in lists. */
  static String kind(Plan plan) {
    if (plan.stages().size() == 1) {
      int devices = plan.stages().get(0).replicas();
      return devices == 1
          ? "one device"
          : plan.overlapGradients() ? "data parallel, overlapped" : "data parallel";
    }
    boolean straight = plan.stages().stream().allMatch(stage -> stage.replicas() == 1);
    return straight ? "straight pipeline" : "hybrid";
  }

  /** Data parallelism whose all-reduce starts during the last backward pass. */
  private void overlappedDataParallel() {
    if (request.costModel() == CostModel.DAPPLE_REPO) {
      return; // that program scores it, but does not choose it
    }
    List<Candidate> overlapped = new ArrayList<>();
    for (Candidate candidate : List.copyOf(candidates)) {
      if (candidate.plan().stages().size() == 1
          && candidate.plan().stages().get(0).replicas() > 1) {
        Plan plan = candidate.plan();
        Plan better =
            new Plan(
                plan.warmUp(),
                plan.microBatches(),
                plan.microBatch(),
                plan.replicas(),
                true,
                plan.stages());
        overlapped.add(
            new Candidate(kind(better), better, estimates.assess(better), Optional.empty()));
      }
    }
    candidates.addAll(overlapped);
  }

  /** Sorts the candidates by estimate, has the best few decided, and puts the winner first. */
  private void decide() {
    Comparator<Candidate> order =
        Comparator.comparingDouble(Candidate::seconds)
            .thenComparingInt(candidate -> candidate.plan().stages().size());
    candidates.sort(order);
    if (request.costModel() == CostModel.DAPPLE_REPO) {
      return; // its scores are the objective
    }
    int few = Math.min(BEST_FEW, candidates.size());
    for (int i = 0; i < few; i++) {
      Candidate candidate = candidates.get(i);
      Assessment decided = decides.assess(candidate.plan());
      candidates.set(
          i,
          new Candidate(
              candidate.kind(), candidate.plan(), candidate.estimate(), Optional.of(decided)));
    }
    candidates.subList(0, few).sort(order);
  }

  /** One device doing everything at its best batch sizes. */
  static double serialSeconds(StageCosts costs, int globalBatch) {
    double[] once = costs.cheapestSecondsPerSample(globalBatch);
    return once[costs.size()] * globalBatch;
  }

  /** All work, shared by all devices without loss, as far as the cost model has to pay for it. */
  static LowerBound lowerBound(StageCosts costs, int globalBatch, CostModel costModel) {
    if (costModel == CostModel.DAPPLE_PUBLISHED) {
      return new LowerBound(0, "the published formula may charge less than all work");
    }
    if (costModel == CostModel.DAPPLE_REPO) { // devices are alike, time is in proportion
      double once = new DappleRepoOracle(costs).secondsPerSample()[costs.size()];
      int devices = costs.workload().cluster().size();
      return new LowerBound(once * globalBatch / devices, "work / devices");
    }
    double rate = 0; // devices, in units of the profile's
    for (int device = 0; device < costs.workload().cluster().size(); device++) {
      rate += 1 / costs.slowdown(device);
    }
    return new LowerBound(serialSeconds(costs, globalBatch) / rate, "work / devices");
  }

  /** Whether a quick look finds any plan that fits. */
  static boolean findsAnything(StageCosts costs, Request request) {
    Oracle estimates = request.costModel().oracle(costs);
    DapplePlanner planner = new DapplePlanner(costs, request, estimates, QUICK_BEAM);
    for (boolean throttle : new boolean[] {false, true}) {
      for (Trial trial : planner.trials(throttle)) {
        if (trial.firstGuess < Double.POSITIVE_INFINITY) {
          return true;
        }
        planner.search(trial, QUICK_BEAM, Double.POSITIVE_INFINITY);
        if (!planner.candidates.isEmpty()) {
          return true;
        }
      }
    }
    return false;
  }
}

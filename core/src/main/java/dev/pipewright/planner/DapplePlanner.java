package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.schedule.WarmUp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The best synchronous hybrid of data and pipeline parallelism.
 *
 * <p>Paper: S. Fan et al., <i>DAPPLE: A Pipelined Data Parallel Approach for Training Large
 * Models</i>, PPoPP 2021, §IV. The space is the paper's: any number of stages with uneven cuts, any
 * replication of each, the three placement policies in any composition, copies of the whole
 * pipeline, recomputation where memory demands it, pure data parallelism with and without overlapped
 * all-reduce, straight pipelines. Departs: the number of micro-batches is chosen too unless given;
 * the search is exact (see {@link PipelineSearch}); the best few are decided by a second oracle.
 */
public final class DapplePlanner {
  private static final int BEST_FEW = 8;

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
    for (Wave wave : Wave.of(request, costs.workload().cluster().size())) {
      search(wave);
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
        lowerBound(),
        fits ? Binding.of(costs, candidates.get(0)) : "memory",
        serialSeconds(),
        new Search(exhaustive, labels, space));
  }

  private void search(Wave wave) {
    Cluster cluster = costs.workload().cluster();
    PlacementSpace space =
        new PlacementSpace(cluster, wave.unit(), Effort.stageSizes(cluster, wave.unit()));
    everyPlacement &= space.everyPlacement();
    exhaustive &= space.everyPlacement() || cluster.machines() == 1;
    int most = Math.min(costs.size(), cluster.size() / wave.unit());
    if (request.costModel() == CostModel.DAPPLE_REPO) {
      int stages = Math.min(most, wave.microBatches());
      StagePricer pricer =
          new RepoPricer(
              costs,
              (DappleRepoOracle) estimates,
              space,
              wave.unit(),
              wave.microBatch(),
              wave.microBatches(),
              stages);
      collect(wave, WarmUp.A, space, pricer, stages, false);
      return;
    }
    boolean found = false;
    for (boolean throttle : new boolean[] {false, true}) {
      for (WarmUp policy : request.policies()) {
        StagePricer pricer =
            new FormulaPricer(
                costs,
                request.costModel().formula(),
                space,
                policy,
                request.recomputation(),
                throttle,
                wave.samples(),
                wave.microBatches());
        found |= collect(wave, policy, space, pricer, most, throttle);
      }
      if (found || limit < Double.POSITIVE_INFINITY) {
        return; // holding fewer micro-batches than wanted is the last resort
      }
    }
  }

  private boolean collect(
      Wave wave, WarmUp policy, PlacementSpace space, StagePricer pricer, int most, boolean throttle) {
    double[] work = costs.cheapestSecondsPerSample(wave.samples());
    limit = Math.min(limit, EvenSplits.best(space, pricer, work, most));
    PipelineSearch search =
        new PipelineSearch(costs.workload().chain(), space, pricer, most, beam, limit);
    List<Found> found = search.run();
    exhaustive &= search.exhaustive();
    labels += search.built();
    for (Found pipeline : found) {
      limit = Math.min(limit, pipeline.seconds());
      add(plan(wave, policy, pipeline));
    }
    return !found.isEmpty();
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
      int room = recompute == Recompute.NONE ? wanted : room(found.firsts()[s], end, slice, devices);
      ahead = Math.max(1, Math.min(ahead, Math.min(wanted, room))); // more than the stage before never comes
      stages.add(new StagePlan(found.firsts()[s], end - 1, devices, recompute, ahead));
    }
    return new Plan(
        policy, wave.microBatches(), wave.microBatch(), wave.unit(), false, stages);
  }

  /** How many inputs a stage that recomputes can hold. */
  private int room(int first, int end, int slice, List<Integer> devices) {
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : devices) {
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    double free =
        capacity - costs.staticBytes(first, end) - costs.recomputedBytes(first, end, slice);
    double input = costs.inputBytes(first, slice);
    return input == 0 ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE, free / input);
  }

  private String kind(Plan plan) {
    if (plan.stages().size() == 1) {
      int devices = plan.stages().get(0).replicas();
      return devices == 1 ? "one device" : plan.overlapGradients() ? "data parallel, overlapped" : "data parallel";
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
      if (candidate.plan().stages().size() == 1 && candidate.plan().stages().get(0).replicas() > 1) {
        Plan plan = candidate.plan();
        Plan better =
            new Plan(
                plan.warmUp(), plan.microBatches(), plan.microBatch(), plan.replicas(), true, plan.stages());
        overlapped.add(new Candidate(kind(better), better, estimates.assess(better), Optional.empty()));
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

  private double serialSeconds() {
    double[] once = costs.cheapestSecondsPerSample(request.globalBatch());
    return once[costs.size()] * request.globalBatch();
  }

  private LowerBound lowerBound() {
    double rate = 0; // devices, in units of the profile's
    for (int device = 0; device < costs.workload().cluster().size(); device++) {
      rate += 1 / costs.slowdown(device);
    }
    return new LowerBound(serialSeconds() / rate, "work / devices");
  }
}

package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.LowerBounds;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.partition.CoarseCuts;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/**
 * mCAP: one stage for each device, or as many as are asked for, cut so that the fullest holds
 * least; by brute force, by Bayesian optimisation or exactly, which is for {@link Cutter} to say.
 */
public final class Mcap {
  private static final Degrees ALONE = new Degrees(1, 1);

  private Mcap() {}

  /** How partitions are searched. */
  @FunctionalInterface
  public interface Cutter {
    /** Cuts so many layers into so many stages. */
    Balance cut(StagePeak peaks, int layers, int stages);
  }

  /**
   * Plans by the model's peaks. Where the micro-batch or the schedule is free, the exact dynamic
   * program chooses: the smallest peak, then the shortest step.
   */
  public static Planning plan(StageCosts all, Request request, Cutter cutter) {
    return plan(all, request, cutter, () -> false);
  }

  /**
   * The same until it is asked to stop, then with the best so far.
   *
   * @param stop asked now and then; the cutter's, too
   * @throws SearchStoppedException when nothing is found by then
   */
  public static Planning plan(
      StageCosts all, Request request, Cutter cutter, BooleanSupplier stop) {
    StageCosts costs = CoarseCuts.onePath(all);
    int stages = request.stages().orElse(costs.workload().cluster().size());
    McapExact.check(costs.size(), stages);
    double serial = LowerBounds.oneDeviceSeconds(all, request.globalBatch(), CostModel.PIPEWRIGHT);
    Oracle oracle = new PipelineOracle(all, new PathFormula());
    HybridRecomputation relief =
        new HybridRecomputation(new HybridCosts(costs), request.recomputation());
    Candidate best = null;
    HybridRound chosen = null;
    Balance exact = null;
    boolean stopped = false;
    for (PipelinePolicy policy : request.policies()) {
      for (int samples = 1; samples <= request.globalBatch() && !stopped; samples++) {
        if (request.allowsMicroBatch(samples)) {
          HybridRound round =
              new HybridRound(
                  oracle,
                  relief.costs(),
                  relief,
                  policy,
                  request.globalBatch() / samples,
                  samples,
                  stages,
                  1,
                  OptionalInt.of(stages));
          try {
            Balance other =
                McapExact.of(peaks(round, stages), costs.size(), stages, TieBreak.NONE, stop);
            Candidate plan = plan(round, other.sizes(), other.peakBytes());
            if (best == null || smaller(plan, best)) {
              best = plan;
              chosen = round;
              exact = other;
            }
          } catch (SearchStoppedException e) {
            if (best == null) {
              throw e;
            }
            stopped = true;
          }
        }
      }
    }
    Check.that(chosen != null, "a micro-batch divides the global batch: request=%s", request);
    HybridRound round = Objects.requireNonNull(chosen);
    if (!stopped) {
      try {
        Balance balance = cutter.cut(peaks(round, stages), costs.size(), stages);
        return planning(balance, found(round, balance), serial, balance.gap() <= 0);
      } catch (SearchStoppedException e) {
        // what the dynamic program has found is the best so far
      }
    }
    Balance found = Objects.requireNonNull(exact);
    return planning(found, found(round, found), serial, false);
  }

  private static boolean smaller(Candidate plan, Candidate best) {
    int order = Double.compare(plan.peakBytes(), best.peakBytes());
    return order < 0 || (order == 0 && plan.seconds() < best.seconds());
  }

  private static StagePeak peaks(HybridRound round, int stages) {
    if (round.relief.recomputation() == Recomputation.NEVER) {
      return new ModelledPeaks(
          round.costs.costs(), round.policy, stages, round.microBatches, round.samples);
    }
    return (stage, first, end) ->
        round.costs.costs().isStage(first, end)
            ? round.relief.leastBytes(
                first, end, ALONE, round.samples, round.inFlight(stages - 1 - stage))
            : Double.POSITIVE_INFINITY;
  }

  /** The plan, and the best one without the stage that binds. */
  private static List<Candidate> found(HybridRound round, Balance balance) {
    List<Candidate> plans =
        new ArrayList<>(List.of(plan(round, balance.sizes(), balance.peakBytes())));
    balance.runnerUp().ifPresent(other -> plans.add(plan(round, other.sizes(), other.peakBytes())));
    return plans;
  }

  /** As fast as it is within a peak. */
  private static Candidate plan(HybridRound round, int[] sizes, double peakBytes) {
    int[] firsts = new int[sizes.length];
    for (int stage = 1; stage < sizes.length; stage++) {
      firsts[stage] = firsts[stage - 1] + sizes[stage - 1];
    }
    int alone = Arrays.asList(round.degrees).indexOf(ALONE);
    int[] kinds = new int[sizes.length];
    Arrays.fill(kinds, alone);
    return round.plan(firsts, kinds, peakBytes);
  }

  /**
   * Plans by measured peaks, which say nothing of times: those of the plan are 0, its step's is
   * NaN. Micro-batches and schedule are those of the measurement.
   */
  public static Planning measured(LayerPeaks peaks, Cluster cluster, Cutter cutter) {
    return measured(peaks, cluster, cluster.size(), cutter);
  }

  /** The same for so many of the cluster's devices. */
  public static Planning measured(LayerPeaks peaks, Cluster cluster, int stages, Cutter cutter) {
    McapExact.check(peaks.layers(), stages);
    Balance balance = cutter.cut(peaks, peaks.layers(), stages);
    List<Candidate> found = new ArrayList<>(List.of(measured(balance.sizes(), peaks, cluster)));
    balance.runnerUp().ifPresent(other -> found.add(measured(other.sizes(), peaks, cluster)));
    return planning(balance, found, Double.NaN, balance.gap() <= 0);
  }

  /** Layers by stage, one on each device. */
  private static Candidate measured(int[] sizes, LayerPeaks peaks, Cluster cluster) {
    List<StagePlan> stages = new ArrayList<>();
    List<StageCost> costs = new ArrayList<>();
    double[] bytes = peaks.bytes(sizes);
    int first = 0;
    for (int stage = 0; stage < sizes.length; stage++) {
      int end = first + sizes[stage];
      stages.add(new StagePlan(first, end - 1, List.of(stage), Recompute.NONE, 1));
      States states = States.measured(bytes[stage]);
      StageMemory memory = new StageMemory(states, 0, 1, 0, cluster.device(stage).memory());
      costs.add(new StageCost(0, 0, 0, 0, 0, 0, 0, memory));
      first = end;
    }
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 1, 1, 1, false, stages);
    Assessment priced = new Assessment("measured", Double.NaN, costs);
    return new Candidate(plan.kind(), plan, priced, Optional.empty());
  }

  private static Planning planning(
      Balance balance, List<Candidate> found, double serialSeconds, boolean exhaustive) {
    Candidate best = found.get(0);
    return new Planning(
        balance.planner(),
        Objective.PEAK_MEMORY,
        CostModel.PIPEWRIGHT.word(),
        best.estimate().fits() ? Optional.of(best) : Optional.empty(),
        found,
        balance.lowerBound(),
        balance.binding(),
        serialSeconds,
        new Search(exhaustive, balance.considered(), "cuts into stages of one device each"));
  }
}

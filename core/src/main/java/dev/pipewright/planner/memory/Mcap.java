package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.memory.Capture.Request;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Bytes;
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
  public static MemoryPlanning plan(StageCosts all, Request request, Cutter cutter) {
    return plan(all, request, cutter, () -> false);
  }

  /**
   * The same until it is asked to stop, then with the best so far.
   *
   * @param stop asked now and then; the cutter's, too
   * @throws SearchStoppedException when nothing is found by then
   */
  public static MemoryPlanning plan(
      StageCosts all, Request request, Cutter cutter, BooleanSupplier stop) {
    StageCosts costs = Blocks.chain(all);
    int stages = request.stages().orElse(costs.workload().cluster().size());
    McapExact.check(costs.size(), stages);
    HybridRecomputation relief =
        new HybridRecomputation(new HybridCosts(costs), request.recomputation());
    HybridPlan best = null;
    HybridRound chosen = null;
    Balance exact = null;
    boolean stopped = false;
    for (PipelinePolicy policy : request.policies()) {
      for (int samples = 1; samples <= request.globalBatch() && !stopped; samples++) {
        boolean allowed =
            request.globalBatch() % samples == 0 && request.microBatch().orElse(samples) == samples;
        if (allowed) {
          HybridRound round =
              new HybridRound(
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
            HybridPlan plan = plan(round, other);
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
        return planning(balance, plan(round, balance), balance.gap() <= 0);
      } catch (SearchStoppedException e) {
        // what the dynamic program has found is the best so far
      }
    }
    return planning(Objects.requireNonNull(exact), Objects.requireNonNull(best), false);
  }

  private static boolean smaller(HybridPlan plan, HybridPlan best) {
    int order = Double.compare(plan.peakBytes(), best.peakBytes());
    return order < 0 || (order == 0 && plan.stepSeconds() < best.stepSeconds());
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

  /** As fast as it is within the peak of the fullest stage. */
  private static HybridPlan plan(HybridRound round, Balance balance) {
    int[] sizes = balance.sizes();
    int[] firsts = new int[sizes.length];
    for (int stage = 1; stage < sizes.length; stage++) {
      firsts[stage] = firsts[stage - 1] + sizes[stage - 1];
    }
    int alone = Arrays.asList(round.degrees).indexOf(ALONE);
    int[] kinds = new int[sizes.length];
    Arrays.fill(kinds, alone);
    return round.plan(firsts, kinds, balance.peakBytes());
  }

  /**
   * Plans by measured peaks, which say nothing of times: those of the plan are 0, its step's is
   * NaN. Micro-batches and schedule are those of the measurement.
   */
  public static MemoryPlanning measured(LayerPeaks peaks, Cluster cluster, Cutter cutter) {
    return measured(peaks, cluster, cluster.size(), cutter);
  }

  /** The same for so many of the cluster's devices. */
  public static MemoryPlanning measured(
      LayerPeaks peaks, Cluster cluster, int stages, Cutter cutter) {
    McapExact.check(peaks.layers(), stages);
    Balance balance = cutter.cut(peaks, peaks.layers(), stages);
    List<Stage> made = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      int first = balance.first(stage);
      int last = first + balance.sizes()[stage] - 1;
      Bytes capacity = cluster.device(stage).memory();
      StageMemory memory =
          new StageMemory(States.measured(balance.bytes()[stage]), 0, 1, 0, capacity);
      StageCost cost = new StageCost(0, 0, 0, 0, 0, 0, 0, memory);
      made.add(new Stage(first, last, List.of(stage), ALONE, 1, cost));
    }
    HybridPlan plan = new HybridPlan(PipelinePolicy.A, 1, 1, made, Double.NaN);
    return planning(balance, plan, balance.gap() <= 0);
  }

  private static MemoryPlanning planning(Balance balance, HybridPlan plan, boolean exhaustive) {
    boolean fits = plan.stages().stream().allMatch(stage -> stage.cost().memory().fits());
    return new MemoryPlanning(
        balance.planner(),
        fits ? Optional.of(plan) : Optional.empty(),
        List.of(plan),
        balance.lowerBound(),
        balance.binding(),
        balance
            .runnerUp()
            .map(other ->
                new MemoryPlanning.RunnerUp(
                    Arrays.toString(other.sizes()) + " layers", other.peakBytes(), other.gap())),
        exhaustive,
        balance.considered());
  }
}

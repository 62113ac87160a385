package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lets the stages of synchronous plans compute no more layers again than memory demands. */
public final class SelectiveRecomputation {
  private final StageCosts costs;
  private final Map<Integer, TradeOffs> bySlice = new HashMap<>();

  private SelectiveRecomputation(StageCosts costs) {
    this.costs = costs;
  }

  /**
   * Where it is asked for and possible: layers of parallel branches are no runs.
   *
   * @param searched the same costs, or cut at fewer places
   */
  public static Optional<SelectiveRecomputation> of(
      StageCosts costs, StageCosts searched, Recomputation recomputation) {
    return recomputation == Recomputation.SELECTIVE && costs.total()
        ? Optional.of(new SelectiveRecomputation(searched))
        : Optional.empty();
  }

  /** Whether no choice of layers was left out so far. */
  boolean exact() {
    return bySlice.values().stream().allMatch(TradeOffs::exact);
  }

  /** What stages cost that share micro-batches in such slices. */
  TradeOffs tradeOffs(int slice) {
    return bySlice.computeIfAbsent(slice, key -> TradeOffs.of(costs, slice));
  }

  /**
   * The stage with as few layers computed again as fit.
   *
   * @param first its first position among those that may be cut at
   * @param end the position behind its last
   */
  StagePlan of(StagePlan stage, int first, int end, int microBatching) {
    int slice = StageCosts.slice(microBatching, stage.replicas());
    TradeOffs tradeOffs = tradeOffs(slice);
    double bytes =
        capacity(costs, stage.devices())
            - costs.staticBytes(first, end)
            - costs.workingBytes(slice);
    return tradeOffs
        .choice(first, end, stage.inFlight(), bytes)
        .map(choice -> stage.selective(costs.inChain(choice.again())))
        .orElse(stage);
  }

  /** The better plan; empty where no stage gains. */
  public Optional<PipelinePlan> of(PipelinePlan plan) {
    List<StagePlan> stages = new ArrayList<>();
    for (StagePlan stage : plan.stages()) {
      boolean again = stage.recompute() != Recompute.NONE;
      int end = stage.lastLayer() + 1;
      stages.add(again ? of(stage, stage.firstLayer(), end, plan.microBatching()) : stage);
    }
    return stages.equals(plan.stages()) ? Optional.empty() : Optional.of(plan.with(stages));
  }

  /** The smallest memory among the devices. */
  static double capacity(StageCosts costs, List<Integer> devices) {
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : devices) {
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    return capacity;
  }
}

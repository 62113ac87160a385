package dev.pipewright.planner;

import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.ShardedProfile;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageExchanges;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ZeroStage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Seconds that all layers take a tensor-parallel group of the fastest devices, the group's
 * exchanges included: what no schedule can avoid.
 */
final class DividedWork {
  private final StageCosts costs;
  private final StageCosts part;
  private final Parallelism parallelism;
  private final List<GroupExchange> exchanges;
  private final StageGroups group; // the first devices, which are neighbours
  private final Map<Integer, Seconds> bySlice = new HashMap<>();

  /** Of a slice, through all layers. */
  record Seconds(double forward, double backward) {
    double passes() {
      return forward + backward;
    }
  }

  /**
   * Of a network that can be divided so.
   *
   * @param costs of whole layers
   */
  DividedWork(StageCosts costs, Parallelism parallelism) {
    this.costs = costs;
    this.parallelism = parallelism;
    this.part = costs.with(ShardedProfile.of(costs.workload(), parallelism));
    LayerRange all = new LayerRange(0, costs.size() - 1);
    this.exchanges = GroupExchanges.of(costs.workload().chain(), all, parallelism);
    int parts = parallelism.parts();
    this.group = StageGroups.of(costs, IntStream.range(0, parts).toArray(), parts);
  }

  Parallelism parallelism() {
    return parallelism;
  }

  /**
   * The least bytes of states that the fullest device of equal pipelines holds.
   *
   * @param sharding among the replicas of a rank
   */
  double stateBytes(int ranks, int replicas, ZeroStage sharding) {
    States all = part.states(0, part.size());
    double sharded =
        switch (sharding) {
          case NOTHING -> 0;
          case OPTIMIZER -> all.optimizer();
          case GRADIENTS -> all.optimizer() + all.gradients();
          case PARAMETERS -> all.all();
        };
    return (all.all() - sharded * (1 - 1.0 / replicas)) / ranks;
  }

  /** Of slices of so many samples. */
  Seconds seconds(int slice) {
    return bySlice.computeIfAbsent(slice, this::newSeconds);
  }

  private Seconds newSeconds(int slice) {
    int end = part.size();
    StageExchanges exchanged =
        StageExchanges.of(
            costs, new PartTimes(costs.workload()), group, exchanges, parallelism.parts(), slice);
    double pace = costs.fastest();
    return new Seconds(
        part.forwardSeconds(slice)[end] * pace + exchanged.forward(0, end),
        part.backwardSeconds(slice)[end] * pace + exchanged.backward(0, end));
  }
}

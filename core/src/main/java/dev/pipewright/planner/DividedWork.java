package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.ShardedProfile;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageExchanges;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntToDoubleFunction;
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
  private final int[] path;
  private final double[] own; // bytes of parameters that only replicas and copies have, by run
  private final double[] experts; // of these those that only replicas have
  private final double[] shared; // those that all devices of a rank have
  private final Map<Integer, LayerLoads> bySlice = Collections.synchronizedMap(new HashMap<>());
  private final Map<Integer, Double> exchangesBySlice =
      Collections.synchronizedMap(new HashMap<>());

  /**
   * Of a network that can be divided so.
   *
   * @param costs of whole layers
   * @param path positions after which pipelines may be cut ({@link
   *     dev.pipewright.planner.partition.OnePath})
   */
  DividedWork(StageCosts costs, Parallelism parallelism, int[] path) {
    this(
        costs,
        costs.with(ShardedProfile.of(costs.workload(), parallelism, true)),
        parallelism,
        path);
  }

  /**
   * The same where it is known what a device has of it.
   *
   * @param part its costs
   */
  DividedWork(StageCosts costs, StageCosts part, Parallelism parallelism, int[] path) {
    this.path = path;
    this.costs = costs;
    this.parallelism = parallelism;
    this.part = part;
    LayerRange all = new LayerRange(0, costs.size() - 1);
    this.exchanges = GroupExchanges.of(costs.workload().chain(), all, parallelism, true);
    int parts = parallelism.parts();
    this.group = StageGroups.of(costs, IntStream.range(0, parts).toArray(), parallelism);
    ShardedParameters held = new ShardedParameters(costs.workload().chain().graph(), parallelism);
    double[] known = known(layer -> held.of(layer, parts - 1).numbers());
    double[] everywhere =
        known(layer -> {
          ShardedParameters.Held each = held.of(layer, parts - 1);
          return parallelism.several() && each.summed() ? each.whole() : 0;
        });
    double[] divided = known(layer -> held.of(layer, parts - 1).experts());
    double[] profiled = runs(end -> part.parameterBytes()[end]);
    this.shared = of(path.length, at -> Math.min(everywhere[at], profiled[at]));
    this.own = of(path.length, at -> Math.max(0, Math.min(known[at], profiled[at]) - shared[at]));
    this.experts = of(path.length, at -> Math.min(divided[at], own[at]));
  }

  Parallelism parallelism() {
    return parallelism;
  }

  /**
   * The least bytes of states that the fullest device of equal pipelines holds, and the mean.
   *
   * @param sharding among the replicas of a rank, and those of both directions
   * @param chains directions of the schedule: each has all stages
   */
  double stateBytes(int ranks, int replicas, ZeroStage sharding, int chains) {
    States all = part.states(0, part.size());
    double sharded =
        switch (sharding) {
          case NOTHING -> 0;
          case OPTIMIZER -> all.optimizer();
          case GRADIENTS -> all.optimizer() + all.gradients();
          case PARAMETERS -> all.all();
        };
    double there = sharding == ZeroStage.NOTHING ? 1 : share();
    double part = sharded / replicas * partOfStates();
    return there * (chains * (all.all() - sharded) + part) / ranks;
  }

  /**
   * Bytes of states of each run of layers on a device that has it, at least.
   *
   * @param holders replicas that share what is sharded
   */
  double[] stateBytes(int holders, ZeroStage sharding) {
    States all = part.states(0, part.size());
    double whole = all.parameters() == 0 ? 0 : all.all() / all.parameters();
    double sharded =
        all.parameters() == 0 || sharding == ZeroStage.NOTHING
            ? 0
            : (sharding == ZeroStage.PARAMETERS ? all.all() : all.optimizer()) / all.parameters();
    return of(
        path.length,
        at ->
            (own[at] + shared[at]) * (whole - sharded)
                + ((own[at] - experts[at]) / parallelism.copies()
                        + experts[at]
                        + shared[at] / parallelism.parts())
                    * sharded
                    / holders);
  }

  /** Of what ZeRO leaves a device if only replicas share it, what it does as others share, too. */
  private double partOfStates() {
    double all = LayerLoads.sum(own) + LayerLoads.sum(shared);
    return all == 0 ? 1 : partOf(LayerLoads.sum(experts) / all, LayerLoads.sum(shared) / all);
  }

  /** The same of the update of a run of layers. */
  double partOfUpdate(int at) {
    boolean proportional = !costs.workload().profile().provenance().measured();
    double all = own[at] + shared[at];
    if (!anyShared()) {
      return 1;
    }
    return all == 0 || !proportional ? partOf(0, 1) : partOf(experts[at] / all, shared[at] / all);
  }

  /**
   * What a member shards further than replicas do.
   *
   * @param ofExperts the share that it does not
   * @param everywhere the share that all devices of a group have; copies have the rest
   */
  private double partOf(double ofExperts, double everywhere) {
    return ofExperts
        + (1 - ofExperts - everywhere) / parallelism.copies()
        + everywhere / parallelism.parts();
  }

  /** Whether devices of a tensor-parallel group have weights in common, and sum their gradients. */
  private boolean anyShared() {
    return LayerLoads.sum(shared) > 0;
  }

  /**
   * Of the parameters in the profile those that ZeRO knows: layers that were recorded have none.
   */
  private double share() {
    double all = part.parameterBytes()[part.size()];
    return all == 0 ? 1 : (LayerLoads.sum(own) + LayerLoads.sum(shared)) / all;
  }

  /** Bytes of parameters by run, from their numbers by layer. */
  private double[] known(IntToDoubleFunction numbers) {
    Chain chain = costs.workload().chain();
    double[] sums = chain.cumulative(of(chain.graph().size(), numbers));
    double element = costs.workload().profile().precision().bytes();
    return runs(end -> sums[end - 1] * element);
  }

  /** What a device that divides layers so has of them. */
  StageCosts part() {
    return part;
  }

  /** Of slices of so many samples. */
  LayerLoads loads(int slice) {
    return bySlice.computeIfAbsent(slice, this::newLoads);
  }

  /** Bytes of a slice's input that a stage keeps which begins with each run of layers. */
  double[] inputs(int slice) {
    double[] cut = part.cutBytes();
    return of(path.length, at -> (at == 0 ? 0 : cut[path[at - 1] + 1]) * slice);
  }

  /** Seconds of the exchanges of all layers, there and back. */
  double exchanges(int slice) {
    loads(slice);
    return Objects.requireNonNull(exchangesBySlice.get(slice));
  }

  private LayerLoads newLoads(int slice) {
    StageExchanges exchanged =
        StageExchanges.of(
            costs, new PartTimes(costs.workload()), group, exchanges, parallelism, slice);
    int size = costs.size();
    exchangesBySlice.put(slice, exchanged.forward(0, size) + exchanged.backward(0, size));
    Cluster cluster = costs.workload().cluster();
    double pace = costs.fastest() * cluster.software().waiting(cluster.size());
    Chain chain = costs.workload().chain();
    Profile profile = part.workload().profile();
    double[] weights = chain.cumulative(profile.seconds(Quantity.WEIGHT_GRADIENT, slice));
    double[] inputs = chain.cumulative(profile.seconds(Quantity.INPUT_GRADIENT, slice));
    double[] back = part.backwardSeconds(slice);
    double[] whole = runs(end -> back[end] * pace);
    double[] apart = runs(end -> (weights[end - 1] + inputs[end - 1]) * pace);
    double[] exchanges = runs(end -> exchanged.backward(0, end));
    return new LayerLoads(
        runs(end -> part.forwardSeconds(slice)[end] * pace + exchanged.forward(0, end)),
        of(path.length, at -> whole[at] + exchanges[at]),
        of(path.length, at -> Math.min(whole[at], apart[at]) + exchanges[at]),
        runs(end -> weights[end - 1] * pace),
        runs(end -> part.keptBytes()[end] * slice),
        own,
        shared,
        runs(end -> part.updateSeconds()[end] * costs.fastest()));
  }

  private static double[] of(int count, IntToDoubleFunction figure) {
    return IntStream.range(0, count).mapToDouble(figure).toArray();
  }

  /** Of each run of layers between two positions of the path. */
  private double[] runs(IntToDoubleFunction cumulative) {
    double[] figures = new double[path.length];
    double before = 0;
    for (int i = 0; i < path.length; i++) {
      double sum = cumulative.applyAsDouble(path[i] + 1);
      figures[i] = Math.max(0, sum - before); // sums differ by rounding
      before = sum;
    }
    return figures;
  }
}

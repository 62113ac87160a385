package dev.pipewright.planner.memory;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * One schedule and one way to cut the global batch into micro-batches: what stages, transfers and
 * plans cost under it. Stages are counted from the last, which has the last of the devices that are
 * used; the first device that is used is device 0.
 */
final class HybridRound {
  final HybridCosts costs;
  private final Oracle oracle;
  final HybridRecomputation relief;
  final PipelinePolicy policy;
  final int microBatches;
  final int samples;
  final int devices; // that are used
  private final OptionalInt stages;
  final Degrees[] degrees;
  private final Map<Integer, Transfer> transfers = new HashMap<>();

  HybridRound(
      Oracle oracle,
      HybridCosts costs,
      HybridRecomputation relief,
      PipelinePolicy policy,
      int microBatches,
      int samples,
      int devices,
      int mostTensor,
      OptionalInt stages) {
    this.oracle = oracle;
    this.costs = costs;
    this.relief = relief;
    this.policy = policy;
    this.microBatches = microBatches;
    this.samples = samples;
    this.devices = devices;
    this.stages = stages;
    this.degrees =
        Degrees.all(devices, samples, costs.mostTensor(mostTensor)).toArray(Degrees[]::new);
  }

  int layers() {
    return costs.costs().size();
  }

  /** The most stages that there can be. */
  int mostStages() {
    return stages.orElse(Math.min(devices, layers()));
  }

  /** Whether a plan may have so many stages. */
  boolean allows(int count) {
    return stages.orElse(count) == count;
  }

  int inFlight(int fromEnd) {
    return policy.inFlightOf(fromEnd, microBatches);
  }

  /** The first device of a stage when {@code used} devices are taken, its own included. */
  int firstDevice(int used) {
    return devices - used;
  }

  /**
   * Between a stage and the next.
   *
   * @param used devices of the later stage and all behind it
   * @param next index of the later stage's degrees
   * @param own index of the earlier stage's degrees
   */
  Transfer transfer(int used, int next, int own) {
    int key = (used * degrees.length + next) * degrees.length + own;
    Transfer known = transfers.get(key);
    if (known == null) {
      StageGroups from = costs.groups(firstDevice(used + degrees[own].devices()), degrees[own]);
      StageGroups to = costs.groups(firstDevice(used), degrees[next]);
      known = Transfer.between(costs, from, degrees[own], to, degrees[next], samples);
      transfers.put(key, known);
    }
    return known;
  }

  /**
   * The plan with these stages, as fast as they are within a cap of bytes for each device.
   *
   * @param firsts first layers, from the first stage on
   * @param kinds indices of degrees
   */
  Candidate plan(int[] firsts, int[] kinds, double cap) {
    List<StagePlan> stages = new ArrayList<>();
    int used = 0;
    for (int s = firsts.length - 1; s >= 0; s--) {
      int end = s == firsts.length - 1 ? layers() : firsts[s + 1];
      Degrees own = degrees[kinds[s]];
      used += own.devices();
      int device = firstDevice(used);
      int inFlight = inFlight(firsts.length - 1 - s);
      Choice fewer = relief.choice(firsts[s], end, device, own, samples, inFlight, cap);
      StagePlan stage =
          new StagePlan(
                  costs.costs().inChain(firsts[s]),
                  costs.costs().inChain(end) - 1,
                  IntStream.range(device, device + own.devices()).boxed().toList(),
                  Recompute.NONE,
                  inFlight)
              .with(costs.parallelism(own.tensor()));
      stages.add(0, stage.selective(costs.costs().inChain(fewer.again())));
    }
    PipelinePlan plan = new PipelinePlan(policy, microBatches, samples, 1, false, stages);
    return new Candidate(plan.kind(), plan, oracle.assess(plan), Optional.empty());
  }
}

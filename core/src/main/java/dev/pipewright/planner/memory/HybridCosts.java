package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.ShardedProfile;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageExchanges;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.units.Check;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What {@link dev.pipewright.cost.PipelineOracle} charges stages on consecutive devices, for the
 * searches of this package: O(1) for each stage by prefix sums, made when first needed.
 */
final class HybridCosts {
  private static final double ROUNDED_DOWN = 1 - 1e-9;

  private final StageCosts costs;
  private final Workload workload;
  private final ParallelismLimits limits;
  private final PartTimes times;
  private final Map<Integer, StageCosts> parts = new HashMap<>(); // by tensor degree
  private final Map<Integer, List<GroupExchange>> exchanges = new HashMap<>(); // likewise
  private final Map<Long, StageGroups> groups = new HashMap<>(); // by first device and degrees
  private final Map<ExchangeKey, StageExchanges> exchanged = new HashMap<>();

  private record ExchangeKey(int firstDevice, Degrees degrees, int slice) {}

  HybridCosts(StageCosts costs) {
    this.costs = costs;
    this.workload = costs.workload();
    this.limits = new ParallelismLimits(workload.chain().graph());
    this.times = new PartTimes(workload);
  }

  /** Of layers that are not divided. */
  StageCosts costs() {
    return costs;
  }

  Cluster cluster() {
    return workload.cluster();
  }

  /** The largest power of two, up to a degree, into which tensor parallelism divides the layers. */
  int mostTensor(int wanted) {
    int degree = 1;
    while (2 * degree <= wanted && limits.refusal(limits.tensorParallel(2 * degree)).isEmpty()) {
      degree *= 2;
    }
    return degree;
  }

  /** Of the part that a device has of the layers; throws where they cannot be divided so. */
  StageCosts part(int tensor) {
    return parts.computeIfAbsent(
        tensor, degree -> costs.with(ShardedProfile.of(workload, parallelism(degree), false)));
  }

  /** How a group of so many devices divides the layers; throws where it cannot. */
  Parallelism parallelism(int tensor) {
    Parallelism parallelism = limits.tensorParallel(tensor);
    limits
        .refusal(parallelism)
        .ifPresent(why -> Check.that(false, "a stage divides its tensors by %d: %s", tensor, why));
    return parallelism;
  }

  /** The devices of a stage from {@code firstDevice} on. */
  StageGroups groups(int firstDevice, Degrees degrees) {
    long key = ((long) firstDevice << 20 | degrees.data()) << 20 | degrees.tensor();
    return groups.computeIfAbsent(
        key,
        any -> {
          int[] devices = IntStream.range(firstDevice, firstDevice + degrees.devices()).toArray();
          return StageGroups.of(costs, devices, parallelism(degrees.tensor()));
        });
  }

  /** The exchanges of tensor groups during the passes over a slice. */
  StageExchanges exchanges(int firstDevice, Degrees degrees, int slice) {
    return exchanged.computeIfAbsent(
        new ExchangeKey(firstDevice, degrees, slice),
        key ->
            StageExchanges.of(
                costs,
                times,
                groups(firstDevice, degrees),
                exchanges.computeIfAbsent(degrees.tensor(), this::newExchanges),
                parallelism(degrees.tensor()),
                slice));
  }

  /** Of blocks and filters, which exchange whole tensors wherever a stage begins. */
  private List<GroupExchange> newExchanges(int tensor) {
    Chain chain = workload.chain();
    LayerRange all = new LayerRange(0, chain.size() - 1);
    return GroupExchanges.of(chain, all, parallelism(tensor), false);
  }

  /** Bytes on each device with so many micro-batches of {@code samples} in flight. */
  double peakBytes(int first, int end, Degrees degrees, int samples, int inFlight) {
    int slice = StageCosts.slice(samples, degrees.data());
    return peakBytes(part(degrees.tensor()), first, end, slice, inFlight);
  }

  /** The same for what a device has of the layers. */
  static double peakBytes(StageCosts part, int first, int end, int slice, int inFlight) {
    return part.staticBytes(first, end)
        + inFlight * part.heldBytes(first, end, slice)
        + part.workingBytes(slice);
  }

  /** The same without the input, rounded down: it never shrinks with further layers. */
  double leastBytes(int first, int end, Degrees degrees, int samples, int inFlight) {
    StageCosts part = part(degrees.tensor());
    int slice = StageCosts.slice(samples, degrees.data());
    double kept = part.recomputedBytes(first, end, slice);
    double rest = part.staticBytes(first, end) + part.workingBytes(slice);
    return (rest + inFlight * kept) * ROUNDED_DOWN;
  }

  /** Weights, gradients, optimizer state and what layers need while they compute. */
  double bytesWithoutActivations(int first, int end, Degrees degrees, int samples) {
    StageCosts part = part(degrees.tensor());
    return part.staticBytes(first, end)
        + part.workingBytes(StageCosts.slice(samples, degrees.data()));
  }
}

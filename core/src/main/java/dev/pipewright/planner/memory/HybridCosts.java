package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.ExchangeSeconds;
import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.ShardedProfile;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.GroupExchange;
import dev.pipewright.plan.GroupExchanges;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Parallelism;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Check;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a stage of a hybrid plan costs each of its devices: {@link StageCosts} of the layers as
 * {@link ShardedProfile} divides them among the devices of a tensor-parallel group, and the
 * exchanges of these devices.
 *
 * <p>The devices of a stage are consecutive; so are those of a tensor group, and groups of {@code
 * tensor} devices that hold the same part reduce its gradients once a step. O(1) for each stage by
 * prefix sums, made when first needed.
 */
final class HybridCosts {
  private static final double ROUNDED_DOWN = 1 - 1e-9;

  private final StageCosts costs;
  private final Workload workload;
  private final ParallelismLimits limits;
  private final PartTimes times;
  private final Map<Integer, StageCosts> parts = new HashMap<>(); // by tensor degree
  private final Map<Integer, List<GroupExchange>> exchanges = new HashMap<>(); // likewise
  private final Map<Long, Groups> groups = new HashMap<>(); // by first device and degrees
  private final Map<Messages.Key, Messages> messages = new HashMap<>();

  /**
   * The devices of a stage.
   *
   * @param tensor over each tensor group, all at once
   * @param data over the devices that hold the same part, for all parts at once
   * @param slowdown of the slowest device
   */
  record Groups(
      int[] devices, Collectives tensor, Collectives data, double slowdown, long capacity) {}

  /** Cumulative seconds by end of a tensor group's exchanges during a pass over a slice. */
  record Messages(double[] forward, double[] backward) {
    record Key(int firstDevice, Degrees degrees, int slice) {}
  }

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
        tensor, degree -> costs.with(ShardedProfile.of(workload, split(degree))));
  }

  private Parallelism split(int tensor) {
    Parallelism split = limits.tensorParallel(tensor);
    limits
        .refusal(split)
        .ifPresent(why -> Check.that(false, "a stage divides its tensors by %d: %s", tensor, why));
    return split;
  }

  /** The devices of a stage from {@code firstDevice} on. */
  Groups groups(int firstDevice, Degrees degrees) {
    long key = ((long) firstDevice << 20 | degrees.data()) << 20 | degrees.tensor();
    return groups.computeIfAbsent(key, any -> newGroups(firstDevice, degrees));
  }

  private Groups newGroups(int firstDevice, Degrees degrees) {
    int[] devices = new int[degrees.devices()];
    int[][] tensor = new int[degrees.data()][degrees.tensor()];
    int[][] data = new int[degrees.tensor()][degrees.data()];
    double slowdown = 0;
    long capacity = Long.MAX_VALUE;
    for (int i = 0; i < devices.length; i++) {
      int device = firstDevice + i;
      devices[i] = device;
      tensor[i / degrees.tensor()][i % degrees.tensor()] = device;
      data[i % degrees.tensor()][i / degrees.tensor()] = device;
      slowdown = Math.max(slowdown, costs.slowdown(device));
      capacity = Math.min(capacity, cluster().device(device).memory().value());
    }
    return new Groups(
        devices,
        Collectives.achieved(cluster(), tensor),
        Collectives.achieved(cluster(), data),
        slowdown,
        capacity);
  }

  /** The exchanges of tensor groups during the passes over a slice: read only. */
  Messages messages(int firstDevice, Degrees degrees, int slice) {
    return messages.computeIfAbsent(
        new Messages.Key(firstDevice, degrees, slice), this::newMessages);
  }

  private Messages newMessages(Messages.Key key) {
    int layers = workload.chain().graph().size();
    double[] forward = new double[layers];
    double[] backward = new double[layers];
    int tensor = key.degrees.tensor();
    ExchangeSeconds seconds =
        new ExchangeSeconds(
            times,
            groups(key.firstDevice, key.degrees).tensor,
            workload.profile().precision(),
            tensor);
    for (GroupExchange each : exchanges.computeIfAbsent(tensor, this::newExchanges)) {
      double[] pass = each.forward() ? forward : backward;
      pass[each.layer()] += seconds.of(each, key.slice);
    }
    return new Messages(byEnd(forward), byEnd(backward));
  }

  /** Of blocks and filters, which exchange whole tensors wherever a stage begins. */
  private List<GroupExchange> newExchanges(int tensor) {
    Chain chain = workload.chain();
    return GroupExchanges.of(chain, new LayerRange(0, chain.size() - 1), split(tensor));
  }

  private double[] byEnd(double[] byLayer) {
    double[] sums = workload.chain().cumulative(byLayer);
    double[] result = new double[costs.size() + 1];
    for (int end = 1; end < result.length; end++) {
      result[end] = sums[costs.inChain(end) - 1];
    }
    return result;
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

  /** What a stage costs that keeps all; its transfers are those to the next. */
  StageCost stage(
      int first,
      int end,
      int firstDevice,
      Degrees degrees,
      int samples,
      int inFlight,
      Transfer toNext) {
    return stage(
        first, end, firstDevice, degrees, samples, inFlight, HybridRecomputation.NONE, toNext);
  }

  /** The same where layers run again. */
  StageCost stage(
      int first,
      int end,
      int firstDevice,
      Degrees degrees,
      int samples,
      int inFlight,
      Choice relief,
      Transfer toNext) {
    int slice = StageCosts.slice(samples, degrees.data());
    StageCosts part = part(degrees.tensor());
    double[] forward = part.forwardSeconds(slice);
    double[] backward = part.backwardSeconds(slice);
    double[] gradients = part.gradientBytes();
    double[] update = part.updateSeconds();
    Groups on = groups(firstDevice, degrees);
    Messages exchanged = messages(firstDevice, degrees, slice);
    double reduce = on.data.allReduce(gradients[end] - gradients[first]);
    return new StageCost(
        (forward[end] - forward[first]) * on.slowdown
            + exchanged.forward[end]
            - exchanged.forward[first],
        (backward[end] - backward[first]) * on.slowdown
            + exchanged.backward[end]
            - exchanged.backward[first]
            + relief.extraSeconds(),
        toNext.there(end),
        toNext.back(end),
        reduce,
        reduce,
        (update[end] - update[first]) * on.slowdown,
        new StageMemory(
            part.states(first, end),
            relief.again().isEmpty() ? part.heldBytes(first, end, slice) : relief.heldBytes(),
            inFlight,
            relief.workingBytes() + part.workingBytes(slice),
            new Bytes(on.capacity)));
  }
}

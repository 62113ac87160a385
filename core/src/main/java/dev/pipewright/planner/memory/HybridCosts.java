package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Bytes;
import java.util.HashMap;
import java.util.Map;

/**
 * What a stage of a hybrid plan costs each of its devices: {@link StageCosts}, with layers divided
 * among the devices of a tensor group as {@link TensorSplit} says.
 *
 * <p>The devices of a stage are consecutive; so are those of a tensor group, and groups of {@code
 * tensor} devices that hold the same part reduce its gradients once a step. A divided layer takes
 * the profile's time for the whole one, times what the {@link Roofline} says that the part takes of
 * the whole. O(1) for each stage by prefix sums, made when first needed.
 */
final class HybridCosts {
  private static final double ROUNDED_DOWN = 1 - 1e-9;

  private final StageCosts costs;
  private final Workload workload;
  private final Roofline roofline;
  private final TensorSplit[] splits; // by layer
  private final double[] inputs; // elements of one sample, by layer
  private final double staticPerParameterByte;
  private final double gradientPerParameterByte;
  private final Map<Integer, Parts> parts = new HashMap<>(); // by tensor degree
  private final Map<Long, Passes> passes = new HashMap<>(); // by slice and tensor degree
  private final Map<Long, Groups> groups = new HashMap<>(); // by first device and degrees
  private final Map<Messages.Key, Messages> messages = new HashMap<>();

  /** Cumulative by end, for one tensor degree. */
  record Parts(
      double[] parameterBytes, double[] gradientBytes, double[] keptBytes, double[] updateSeconds) {
    States states(int first, int end, double all) {
      return new States(
          parameterBytes[end] - parameterBytes[first],
          gradientBytes[end] - gradientBytes[first],
          all);
    }
  }

  /** Cumulative seconds by end that a device of one tensor degree computes on a slice. */
  record Passes(double[] forward, double[] backward) {}

  /**
   * The devices of a stage.
   *
   * @param tensor over each tensor group, all at once
   * @param data over the devices that hold the same part, for all parts at once
   * @param slowdown of the slowest device
   */
  record Groups(
      int[] devices, Collectives tensor, Collectives data, double slowdown, long capacity) {}

  /** Cumulative seconds by end that a tensor group talks during a pass over a slice. */
  record Messages(double[] forward, double[] backward) {
    record Key(int firstDevice, Degrees degrees, int slice) {}
  }

  HybridCosts(StageCosts costs) {
    this.costs = costs;
    this.workload = costs.workload();
    this.roofline = new Roofline(workload.cluster(), workload.training());
    LayerGraph graph = workload.chain().graph();
    this.splits = new TensorSplit[graph.size()];
    this.inputs = new double[graph.size()];
    for (int layer = 0; layer < splits.length; layer++) {
      splits[layer] = TensorSplit.of(graph, layer);
      for (int from : graph.predecessors(layer)) {
        inputs[layer] += graph.layer(from).outputElements();
      }
    }
    double weight = workload.profile().precision().bytes();
    this.staticPerParameterByte = workload.training().staticBytesPerParameter() / weight;
    this.gradientPerParameterByte = workload.training().gradientBytes() / weight;
  }

  StageCosts costs() {
    return costs;
  }

  Cluster cluster() {
    return workload.cluster();
  }

  /** Whether tensor parallelism divides anything. */
  boolean divides() {
    for (TensorSplit split : splits) {
      if (split.divides()) {
        return true;
      }
    }
    return false;
  }

  private double[] byEnd(double[] byLayer) {
    double[] sums = workload.chain().cumulative(byLayer);
    double[] result = new double[costs.size() + 1];
    for (int end = 1; end < result.length; end++) {
      result[end] = sums[costs.inChain(end) - 1];
    }
    return result;
  }

  /** What a device has of the layers: read only. */
  Parts parts(int tensor) {
    return parts.computeIfAbsent(tensor, this::newParts);
  }

  private Parts newParts(int tensor) {
    Profile profile = workload.profile();
    double[] parameters = profile.parameterBytes();
    double[] kept = profile.keptBytes();
    double[] update = profile.seconds(Quantity.UPDATE, 1);
    for (int layer = 0; layer < splits.length; layer++) {
      parameters[layer] *= splits[layer].weights(tensor);
      update[layer] *= splits[layer].weights(tensor);
      kept[layer] *= splits[layer].kept(tensor);
    }
    double[] weights = byEnd(parameters);
    double[] gradients = weights.clone();
    for (int end = 0; end < gradients.length; end++) {
      gradients[end] *= gradientPerParameterByte;
    }
    return new Parts(weights, gradients, byEnd(kept), byEnd(update));
  }

  /** What a device of the profile's kind computes on a slice: read only. */
  Passes passes(int slice, int tensor) {
    return passes.computeIfAbsent((long) slice << 32 | tensor, key -> newPasses(slice, tensor));
  }

  private Passes newPasses(int slice, int tensor) {
    double[] forward = workload.profile().seconds(Quantity.FORWARD, slice);
    double[] backward = workload.profile().seconds(Quantity.BACKWARD, slice);
    for (int layer = 0; tensor > 1 && layer < splits.length; layer++) {
      if (splits[layer].divides()) {
        LayerTimes whole = roofline(layer, slice, 1);
        LayerTimes part = roofline(layer, slice, tensor);
        forward[layer] *= share(part.forward(), whole.forward());
        backward[layer] *= share(part.backward(), whole.backward());
      }
    }
    return new Passes(byEnd(forward), byEnd(backward));
  }

  private LayerTimes roofline(int layer, int slice, int tensor) {
    TensorSplit split = splits[layer];
    double whole = split.kind() == TensorSplit.Kind.BLOCK ? split.wholeTraffic() : inputs[layer];
    return roofline.partTimes(
        workload.chain().graph().layer(layer), slice, split.part(tensor), whole);
  }

  private static double share(double part, double whole) {
    return whole > 0 ? part / whole : 1;
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

  /** What tensor groups tell each other during the passes over a slice: read only. */
  Messages messages(int firstDevice, Degrees degrees, int slice) {
    return messages.computeIfAbsent(
        new Messages.Key(firstDevice, degrees, slice), this::newMessages);
  }

  private Messages newMessages(Messages.Key key) {
    double[] forward = new double[splits.length];
    double[] backward = new double[splits.length];
    if (key.degrees.tensor() > 1) {
      Collectives group = groups(key.firstDevice, key.degrees).tensor;
      double bytes = (double) key.slice * workload.profile().precision().bytes();
      for (int layer = 0; layer < splits.length; layer++) {
        forward[layer] = splits[layer].forwardSeconds(group, bytes);
        backward[layer] = splits[layer].backwardSeconds(group, bytes);
      }
    }
    return new Messages(byEnd(forward), byEnd(backward));
  }

  /** Bytes on each device with so many micro-batches of {@code samples} in flight. */
  double peakBytes(int first, int end, Degrees degrees, int samples, int inFlight) {
    int slice = StageCosts.slice(samples, degrees.data());
    return peakBytes(parts(degrees.tensor()), first, end, slice, inFlight);
  }

  /** The same for what a device has of the layers. */
  double peakBytes(Parts part, int first, int end, int slice, int inFlight) {
    return staticBytes(part, first, end)
        + inFlight * heldBytes(part, first, end, slice)
        + costs.workingBytes(slice);
  }

  /** The same without the input, rounded down: it never shrinks with further layers. */
  double leastBytes(int first, int end, Degrees degrees, int samples, int inFlight) {
    Parts part = parts(degrees.tensor());
    int slice = StageCosts.slice(samples, degrees.data());
    double kept = (part.keptBytes[end] - part.keptBytes[first]) * slice;
    double rest = staticBytes(part, first, end) + costs.workingBytes(slice);
    return (rest + inFlight * kept) * ROUNDED_DOWN;
  }

  /**
   * Weights, gradients and optimizer state on each device, and what layers need while they compute,
   * as if none of that were divided.
   */
  double besideActivations(int first, int end, Degrees degrees, int samples) {
    return staticBytes(parts(degrees.tensor()), first, end)
        + costs.workingBytes(StageCosts.slice(samples, degrees.data()));
  }

  private double staticBytes(Parts part, int first, int end) {
    return (part.parameterBytes[end] - part.parameterBytes[first]) * staticPerParameterByte;
  }

  /** Every device of a tensor group has the whole input of the stage. */
  private double heldBytes(Parts part, int first, int end, int slice) {
    return (costs.cutBytes()[first] + part.keptBytes[end] - part.keptBytes[first]) * slice;
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
    return stage(first, end, firstDevice, degrees, samples, inFlight, HybridRelief.NONE, toNext);
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
    Parts part = parts(degrees.tensor());
    Passes pass = passes(slice, degrees.tensor());
    Groups on = groups(firstDevice, degrees);
    Messages told = messages(firstDevice, degrees, slice);
    double reduce = on.data.allReduce(part.gradientBytes[end] - part.gradientBytes[first]);
    return new StageCost(
        (pass.forward[end] - pass.forward[first]) * on.slowdown
            + told.forward[end]
            - told.forward[first],
        (pass.backward[end] - pass.backward[first]) * on.slowdown
            + told.backward[end]
            - told.backward[first]
            + relief.extraSeconds(),
        toNext.there(end),
        toNext.back(end),
        reduce,
        reduce,
        (part.updateSeconds[end] - part.updateSeconds[first]) * on.slowdown,
        new StageMemory(
            part.states(first, end, staticBytes(part, first, end)),
            relief.again().isEmpty() ? heldBytes(part, first, end, slice) : relief.heldBytes(),
            inFlight,
            relief.workingBytes() + costs.workingBytes(slice),
            new Bytes(on.capacity)));
  }
}

package dev.pipewright.cost.strategy;

import dev.pipewright.cost.Part;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The layers of a workload with their sizes and times, read once for all questions about them. */
final class Network {
  private final Workload workload;
  private final List<Geometry> layers;
  private final List<Boolean> switches;
  private final StageCosts costs;
  private final Roofline roofline;
  private final double slowdown;
  private final double[] update;
  private final double[] kept;
  private final double[] output;
  private final int[] stagePlaces;
  private final StageCosts stageCosts;
  private final Map<Integer, StageCut> cuts = new HashMap<>();
  private final Map<List<Integer>, SpatialRegion> regions = new HashMap<>();
  private final Map<Double, double[]> secondsBySlice = new HashMap<>();

  Network(Workload workload, Optional<List<Boolean>> switches) {
    this.workload = workload;
    LayerGraph graph = workload.chain().graph();
    this.layers = Geometry.of(graph);
    this.switches =
        switches.orElseGet(() -> java.util.Collections.nCopies(graph.size(), Boolean.TRUE));
    this.costs = new StageCosts(workload);
    this.roofline = new Roofline(workload.cluster().device(0), workload.training());
    this.slowdown = costs.slowdown(0);
    this.update = workload.profile().seconds(Quantity.UPDATE, 1);
    this.kept = workload.profile().keptBytes();
    this.output = workload.profile().outputBytes();
    this.stagePlaces = nestedEnds(workload.chain());
    this.stageCosts = costs.cutOnlyAt(stagePlaces);
  }

  /** Ends of positions of the chain, each following the one before, from 0 to the chain's size. */
  private static int[] nestedEnds(Chain chain) {
    int[] ends = new int[chain.size() + 1];
    int count = 1;
    for (int position = 0; position < chain.size(); position++) {
      if (count == 1 || chain.precedes(ends[count - 1] - 1, position)) {
        ends[count++] = position + 1;
      }
    }
    return Arrays.copyOf(ends, count);
  }

  /** How many stages there can be at most; the input alone is none. */
  int mostStages() {
    int[] first = workload.chain().added(0);
    boolean input = first.length == 1 && layers.get(first[0]).kind() == Geometry.Kind.INPUT;
    return Math.max(1, stagePlaces.length - (input ? 2 : 1));
  }

  /** The layers that a grid splits. */
  SpatialRegion region(List<Integer> grid) {
    return regions.computeIfAbsent(grid, g -> new SpatialRegion(this, g));
  }

  /** The network in so many stages, balanced by time. */
  StageCut stages(int count) {
    return cuts.computeIfAbsent(count, stages -> StageCut.balanced(this, stageCosts, stages));
  }

  Workload workload() {
    return workload;
  }

  LayerGraph graph() {
    return workload.chain().graph();
  }

  StageCosts costs() {
    return costs;
  }

  int size() {
    return layers.size();
  }

  Geometry layer(int layer) {
    return layers.get(layer);
  }

  /** Whether a strategy may split this layer. */
  boolean mayBeSplit(int layer) {
    return switches.get(layer);
  }

  /** Bytes of one number. */
  double bytesPerElement() {
    return workload.profile().precision().bytes();
  }

  /** The times of whole layers, forward and backward, over {@code samples}: read only. */
  double[] wholeSeconds(double samples) {
    return secondsBySlice.computeIfAbsent(samples, this::read);
  }

  /** The time of all layers. */
  double seconds(double samples) {
    double sum = 0;
    for (double seconds : wholeSeconds(samples)) {
      sum += seconds;
    }
    return sum;
  }

  private double[] read(double samples) {
    Profile profile = workload.profile();
    double[] sum = profile.seconds(Quantity.FORWARD, samples);
    double[] backward = profile.seconds(Quantity.BACKWARD, samples);
    for (int layer = 0; layer < sum.length; layer++) {
      sum[layer] = (sum[layer] + backward[layer]) * slowdown;
    }
    return sum;
  }

  /**
   * The time of a part of a layer: the profile's for the whole layer, times what the roofline says
   * that the part takes of the whole.
   */
  double partSeconds(int layer, double wholeSeconds, double samples, Part part) {
    if (part.equals(Part.WHOLE) || wholeSeconds == 0) {
      return wholeSeconds;
    }
    double read = layers.get(layer).inElements();
    LayerTimes some = roofline.partTimes(graph().layer(layer), samples, part, read);
    LayerTimes all = roofline.partTimes(graph().layer(layer), samples, Part.WHOLE, read);
    return wholeSeconds * (some.forward() + some.backward()) / (all.forward() + all.backward());
  }

  /** The time of a layer's update. */
  double updateSeconds(int layer) {
    return update[layer] * slowdown;
  }

  double updateSeconds() {
    double sum = 0;
    for (int layer = 0; layer < layers.size(); layer++) {
      sum += updateSeconds(layer);
    }
    return sum;
  }

  /** Bytes of a layer's trained numbers, as they are communicated. */
  double parameterBytes(int layer) {
    Geometry l = layers.get(layer);
    return (l.weights() + l.biases()) * bytesPerElement();
  }

  /** Bytes that a layer keeps for its backward pass, for one sample. */
  double keptBytes(int layer) {
    return kept[layer];
  }

  /** Bytes of a layer's output for one sample. */
  double outputBytes(int layer) {
    return output[layer];
  }

  /** Bytes of optimizer state, with a master copy, for each byte of weights. */
  double momentsPerWeight() {
    return workload.training().staticBytesPerParameter() / bytesPerElement() - 2;
  }
}

package dev.pipewright.predict.paradl;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The layers of a workload with their sizes and times, read once for all questions about them. */
final class ParadlNetwork {
  private final Workload workload;
  private final NetworkShapes shapes;
  private final double slowdown;
  private final double[] update;
  private final Map<Integer, StageCut> cuts = new HashMap<>();
  private final Map<Integer, StageCut> evenCuts = new HashMap<>();
  private final Map<Double, double[]> secondsBySlice = new HashMap<>();
  private @Nullable StageCosts costs; // of pipelines, once asked for
  private @Nullable StageCosts nested;

  ParadlNetwork(Workload workload, Optional<List<Boolean>> switches) {
    this(workload, new NetworkShapes(workload, switches));
  }

  private ParadlNetwork(Workload workload, NetworkShapes shapes) {
    this.workload = workload;
    this.shapes = shapes;
    this.slowdown = StageCosts.slowdown(workload, 0);
    this.update = workload.profile().seconds(Quantity.UPDATE, 1);
  }

  /** The same network elsewhere. */
  ParadlNetwork on(Workload other) {
    return new ParadlNetwork(other, shapes);
  }

  Workload workload() {
    return workload;
  }

  NetworkShapes shapes() {
    return shapes;
  }

  LayerGraph graph() {
    return shapes.graph();
  }

  int size() {
    return shapes.size();
  }

  Geometry layer(int layer) {
    return shapes.layer(layer);
  }

  /** Whether a strategy may split this layer. */
  boolean mayBeSplit(int layer) {
    return shapes.mayBeSplit(layer);
  }

  /** The workload as plans divide it: layers that are switched off stay whole. */
  private Workload dividable() {
    return new Workload(
        shapes.chain(), workload.profile(), workload.training(), workload.cluster());
  }

  /** What stages cost that start and end anywhere. */
  StageCosts costs() {
    if (costs == null) {
      costs = new StageCosts(dividable());
    }
    return costs;
  }

  /** The network in so many stages, balanced by time. */
  StageCut stages(int count) {
    return cuts.computeIfAbsent(count, stages -> StageCut.balanced(this, nested(), stages));
  }

  /** The same for ranks that have several of these stages each. */
  StageCut evenStages(int count) {
    return evenCuts.computeIfAbsent(count, stages -> StageCut.even(this, nested(), stages));
  }

  /** What stages cost that start and end where any others may, too. */
  private StageCosts nested() {
    if (nested == null) {
      nested = costs().cutOnlyAt(shapes.stagePlaces());
    }
    return nested;
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

  /** The time of a layer's update. */
  double updateSeconds(int layer) {
    return update[layer] * slowdown;
  }

  double updateSeconds() {
    double sum = 0;
    for (int layer = 0; layer < update.length; layer++) {
      sum += updateSeconds(layer);
    }
    return sum;
  }
}

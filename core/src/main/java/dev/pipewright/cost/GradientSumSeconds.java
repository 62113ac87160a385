package dev.pipewright.cost;

import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.Parallelism;
import java.util.Arrays;

/**
 * Seconds in which the devices that hold a stage sum its gradients: those that hold the same part,
 * of experts those that hold the same, and where each of them sees some positions only, all of them
 * (ParaDL §3.5).
 *
 * <p>A stage's gradients are one message, or one for each product with the layers up to the next
 * where only some devices sum and the software does not fuse these ({@link
 * dev.pipewright.cluster.Software#fusesGroups}).
 */
public final class GradientSumSeconds {
  private static final double[] NOTHING = new double[0];

  private final StageCosts costs; // of a device's part of the stage
  private final int first;
  private final int end;
  private final Parallelism parallelism;
  private final StageGroups groups;
  private final double[] shared; // bytes by layer of the graph that all devices sum
  private final double[] experts; // likewise, that only devices with the same experts sum
  private final double[] apart; // likewise, of tables that are summed by themselves
  private final double[] sharedSums; // cumulative by end
  private final double[] expertSums;
  private final double[] apartSums;

  /**
   * Of positions {@code first..end-1}.
   *
   * @param costs of a device's part of the layers
   * @param apart bytes by layer of the graph that are no part of these sums; empty where there are
   *     none
   */
  public GradientSumSeconds(
      StageCosts costs,
      int first,
      int end,
      Parallelism parallelism,
      StageGroups groups,
      double[] apart) {
    this.costs = costs;
    this.first = first;
    this.end = end;
    this.parallelism = parallelism;
    this.groups = groups;
    this.apart = apart;
    this.shared = sharesPositions() ? shared() : NOTHING;
    this.experts = parallelism.nested() && parallelism.expertParts() > 1 ? experts() : NOTHING;
    this.sharedSums = shared.length == 0 ? NOTHING : costs.cumulative(shared);
    this.expertSums = experts.length == 0 ? NOTHING : costs.cumulative(experts);
    this.apartSums = apart.length == 0 ? NOTHING : costs.cumulative(apart);
  }

  /** Of a stage all of whose gradients are summed with the others. */
  GradientSumSeconds(
      StageCosts costs, int first, int end, Parallelism parallelism, StageGroups groups) {
    this(costs, first, end, parallelism, groups, NOTHING);
  }

  /** Whether devices of a group see other positions of what passes through the same weights. */
  private boolean sharesPositions() {
    return parallelism.several()
        && switch (parallelism.kind()) {
          case SPATIAL, SEQUENCE, CONTEXT, EXPERT -> true;
          case NONE, FILTER, CHANNEL, TENSOR -> false;
        };
  }

  /** Of each layer's gradients those that all parts add up to. */
  private double[] shared() {
    LayerGraph graph = costs.workload().chain().graph();
    double[] bytes = new double[graph.size()];
    ShardedParameters parameters = costs.held(parallelism);
    for (int layer = 0; layer < bytes.length; layer++) {
      ShardedParameters.Held held = parameters.of(layer, 0);
      double all = (double) held.whole() * costs.workload().training().gradientBytes();
      double without = apart.length == 0 ? 0 : apart[layer];
      bytes[layer] = held.summed() ? Math.max(0, all - without) : 0;
    }
    return bytes;
  }

  private double[] experts() {
    double[] bytes = new double[costs.workload().chain().graph().size()];
    ShardedParameters parameters = costs.held(parallelism);
    double gradient = costs.workload().training().gradientBytes();
    Arrays.setAll(bytes, layer -> parameters.of(layer, 0).experts() * gradient);
    return bytes;
  }

  /** When the whole stage is summed after its last backward pass. */
  public double seconds() {
    return from(first);
  }

  /**
   * The part of it that the backward pass does not hide where they overlap.
   *
   * @param slice samples of the pass
   * @param slowdown of the slowest device
   */
  public double exposed(int slice, double slowdown) {
    return GradientOverlap.exposedSeconds(costs, first, end, slice, slowdown, this::from);
  }

  /** Seconds for all positions from one on. */
  private double from(int position) {
    boolean some = parallelism.several() && groups.data().members() > 1;
    if (some && !costs.workload().cluster().software().fusesGroups()) {
      return layerByLayer(position);
    }
    double all = costs.gradientBytes()[end] - costs.gradientBytes()[position];
    return message(
        all,
        between(sharedSums, position),
        between(expertSums, position),
        between(apartSums, position));
  }

  private double between(double[] sums, int position) {
    return sums.length == 0
        ? 0
        : Math.max(0, sums[end] - sums[position]); // they differ by rounding
  }

  /** A message for each product and the layers up to the next. */
  private double layerByLayer(int position) {
    Workload workload = costs.workload();
    LayerGraph graph = workload.chain().graph();
    double gradient =
        (double) workload.training().gradientBytes() / workload.profile().precision().bytes();
    double seconds = 0;
    double bytes = 0;
    double together = 0;
    double ofExperts = 0;
    double without = 0;
    int[] layers = workload.chain().layers(costs.inChain(position) - 1, costs.inChain(end) - 1);
    for (int layer : layers) {
      if (isProduct(graph.layer(layer))) {
        seconds += message(bytes, together, ofExperts, without);
        bytes = 0;
        together = 0;
        ofExperts = 0;
        without = 0;
      }
      bytes += workload.profile().sizes(layer).parameters() * gradient;
      together += shared.length == 0 ? 0 : shared[layer];
      ofExperts += experts.length == 0 ? 0 : experts[layer];
      without += apart.length == 0 ? 0 : apart[layer];
    }
    return seconds + message(bytes, together, ofExperts, without);
  }

  private static boolean isProduct(Layer layer) {
    return layer.steps().stream()
        .anyMatch(step -> step instanceof Operator.Convolution || step instanceof Operator.Linear);
  }

  /**
   * Of one message.
   *
   * @param bytes of all gradients
   * @param together the part of them that all devices sum
   * @param ofExperts the part of them that those with the same experts sum
   * @param without the part of them that is summed by itself
   */
  private double message(double bytes, double together, double ofExperts, double without) {
    double own = Math.max(0, bytes - together - ofExperts - without);
    return groups.data().allReduce(own)
        + groups.experts().allReduce(ofExperts)
        + together(together);
  }

  private double together(double bytes) {
    if (bytes == 0) {
      return 0;
    }
    if (groups.data().members() == 1) {
      return groups.all().allReduce(bytes);
    }
    return switch (parallelism.reduction()) {
      case FLAT -> groups.all().allReduce(bytes);
      case HIERARCHICAL ->
          groups.tensor().reduceScatter(bytes)
              + groups.data().allReduce(bytes / parallelism.pieces())
              + groups.tensor().allGather(bytes);
      case LEADERS ->
          (parallelism.pieces() - 1) * groups.tensor().pointToPoint(bytes)
              + groups.leaders().allReduce(bytes)
              + groups.tensor().broadcast(bytes);
    };
  }
}

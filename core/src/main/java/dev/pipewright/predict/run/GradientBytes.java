package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.TiedTable;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile;
import java.util.List;

/**
 * Which gradients of a stage its workers sum: all with those that hold the same, and where it is
 * split some with everybody who holds it. Those of tables that are read twice ({@link TiedTable})
 * are not among them; they are summed by themselves, with those who have the copy.
 */
final class GradientBytes {
  private final StageCosts costs;
  private final LayerRange range;
  private final boolean replicated;
  private final double[] together; // by position from the stage's first, to its end
  private final double[] tied; // likewise

  /**
   * @param costs of a worker's part of the stage
   */
  GradientBytes(StageCosts costs, Assignment assignment, int depth) {
    this.costs = costs;
    this.range = assignment.stages().get(depth).range();
    Parallelism split = assignment.stages().get(depth).split();
    this.replicated = assignment.holders(depth).size() > split.parts();
    this.tied = behind(tied(costs.workload()));
    this.together = split.several() ? behind(together(split)) : new double[tied.length];
  }

  /** Of each layer's gradients those of tables that are read twice, as far as it has them. */
  static double[] tied(Workload workload) {
    LayerGraph graph = workload.chain().graph();
    Profile profile = workload.profile();
    double[] bytes = new double[graph.size()];
    for (TiedTable table : TiedTable.of(graph)) {
      for (int layer : List.of(table.layer(), table.copyLayer())) {
        double all = table.numbers() * (double) profile.precision().bytes();
        bytes[layer] = Math.min(all, profile.sizes(layer).parameters());
      }
    }
    return bytes;
  }

  /** Of each layer's gradients those that all parts add up to. */
  private double[] together(Parallelism split) {
    LayerGraph graph = costs.workload().chain().graph();
    ShardedParameters parameters = new ShardedParameters(graph, split);
    double element = costs.workload().profile().precision().bytes();
    double[] bytes = new double[graph.size()];
    for (int layer = 0; layer < bytes.length; layer++) {
      ShardedParameters.Held held = parameters.of(layer, 0);
      bytes[layer] = held.summed() ? held.whole() * element : 0;
    }
    return bytes;
  }

  /** Sums over all layers of a position and those behind it. */
  private double[] behind(double[] bytes) {
    double[] sums = costs.workload().chain().cumulative(bytes);
    double[] behind = new double[range.last() + 2 - range.first()];
    for (int i = 0; i < behind.length; i++) {
      int before = range.first() + i - 1;
      behind[i] = sums[range.last()] - (before < 0 ? 0 : sums[before]);
    }
    return behind;
  }

  /** Whether several workers hold the same part of the stage. */
  boolean replicated() {
    return replicated;
  }

  /** Those of a position and all behind it that all parts add up to. */
  double together(int position) {
    return together[position - range.first()];
  }

  /** The others of these that a worker has. */
  double own(int position) {
    double all = costs.parameterBytes()[range.last() + 1] - costs.parameterBytes()[position];
    return all - together(position) - tied[position - range.first()];
  }

  /** Those that a worker sums with anybody. */
  double summed() {
    return together(range.first()) + (replicated ? own(range.first()) : 0);
  }

  /** All that a worker has, but for tables that are read twice. */
  double all() {
    return together(range.first()) + own(range.first());
  }
}

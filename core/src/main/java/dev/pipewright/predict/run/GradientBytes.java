package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.exchange.ShardedParameters.Held;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.TiedTable;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Which gradients of a stage its workers sum: all with those that hold the same, and where it is
 * split some with everybody who holds it. Those of tables that are read twice ({@link TiedTable})
 * are not among them; they are summed by themselves, with those who have the copy.
 */
final class GradientBytes {
  private final boolean replicated;
  private final boolean replicatedExperts;
  private final double together;
  private final double experts;
  private final double own; // the others

  /**
   * @param costs of a worker's part of the stage
   */
  GradientBytes(StageCosts costs, Assignment assignment, int depth) {
    LayerRange range = assignment.stages().get(depth).range();
    Parallelism split = assignment.stages().get(depth).split();
    this.replicated = assignment.holderCount(depth) > split.pieces();
    this.replicatedExperts = assignment.holderCount(depth) > split.parts();
    this.together = of(costs, range, split, held -> held.summed() ? held.whole() : 0);
    this.experts = of(costs, range, split, Held::experts);
    double all = costs.parameterBytes()[range.last() + 1] - costs.parameterBytes()[range.first()];
    this.own = all - together - experts - sum(costs, range, tied(costs.workload()));
  }

  /** Of each layer's gradients those of tables that are read twice, as far as it has them. */
  static double[] tied(Workload workload) {
    LayerGraph graph = workload.chain().graph();
    Profile profile = workload.profile();
    double[] bytes = new double[graph.size()];
    for (TiedTable table : graph.tiedTables()) {
      for (int layer : List.of(table.layer(), table.copyLayer())) {
        double all = table.numbers() * (double) profile.precision().bytes();
        bytes[layer] = Math.min(all, profile.sizes(layer).parameters());
      }
    }
    return bytes;
  }

  /** Gradients of some of the numbers that the first worker of a group has; none without groups. */
  private static double of(
      StageCosts costs, LayerRange range, Parallelism split, ToLongFunction<Held> numbers) {
    if (!split.several()) {
      return 0;
    }
    LayerGraph graph = costs.workload().chain().graph();
    ShardedParameters parameters = new ShardedParameters(graph, split);
    double element = costs.workload().profile().precision().bytes();
    double[] bytes = new double[graph.size()];
    for (int layer = 0; layer < bytes.length; layer++) {
      bytes[layer] = numbers.applyAsLong(parameters.of(layer, 0)) * element;
    }
    return sum(costs, range, bytes);
  }

  private static double sum(StageCosts costs, LayerRange range, double[] bytes) {
    double[] sums = costs.cumulative(bytes);
    return sums[range.last() + 1] - sums[range.first()];
  }

  /** Those that a worker sums with anybody. */
  double summed() {
    return together + (replicated ? own : 0) + (replicatedExperts ? experts : 0);
  }

  /** All that a worker has, but for tables that are read twice. */
  double all() {
    return together + own + experts;
  }
}

package dev.pipewright.execution;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Split;
import dev.pipewright.plan.TeamParameters;

/**
 * Which gradients of a stage its workers sum: all with those that hold the same, and where it is
 * split some with everybody who holds it.
 */
final class GradientBytes {
  private final StageCosts costs;
  private final LayerRange range;
  private final boolean replicated;
  private final double[] together; // by position from the stage's first, to its end

  /**
   * @param costs of a worker's part of the stage
   */
  GradientBytes(StageCosts costs, Assignment assignment, int depth) {
    this.costs = costs;
    this.range = assignment.stages().get(depth).range();
    Split split = assignment.stages().get(depth).split();
    this.replicated = assignment.holders(depth).size() > split.parts();
    this.together = new double[range.last() + 2 - range.first()];
    if (split.several()) {
      add(split);
    }
  }

  private void add(Split split) {
    Chain chain = costs.workload().chain();
    TeamParameters parameters = new TeamParameters(chain.graph(), split);
    double element = costs.workload().profile().precision().bytes();
    double[] bytes = new double[chain.graph().size()]; // by layer
    for (int layer = 0; layer < bytes.length; layer++) {
      TeamParameters.Held held = parameters.of(layer, 0);
      bytes[layer] = held.summed() ? held.whole() * element : 0;
    }
    double[] sums = chain.cumulative(bytes);
    for (int i = 0; i < together.length; i++) {
      int before = range.first() + i - 1;
      together[i] = sums[range.last()] - (before < 0 ? 0 : sums[before]);
    }
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
    return all - together(position);
  }

  /** Those that a worker sums with anybody. */
  double summed() {
    return together(range.first()) + (replicated ? own(range.first()) : 0);
  }

  /** All that a worker has. */
  double all() {
    return together(range.first()) + own(range.first());
  }
}

package dev.pipewright.cost;

import dev.pipewright.plan.PipelinePlan;

/** Whoever can say what a plan costs: a formula, a simulator, a measurement. */
public interface Oracle {
  /**
   * Time and memory of {@code plan}; throws when it does not belong to the oracle's model or
   * cluster.
   */
  Assessment assess(PipelinePlan plan);
}

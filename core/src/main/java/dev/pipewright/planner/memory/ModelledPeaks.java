package dev.pipewright.planner.memory;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;

/**
 * Peaks of a straight pipeline by the memory model of {@link StageCosts}, where they were not
 * measured: weights, gradients and optimizer state, the activations of the micro-batches that the
 * schedule has in flight at that stage, and what layers need while they compute. Nothing is
 * computed again.
 *
 * @param costs of the network's positions
 * @param policy the schedule's family
 * @param stages how many there are in all
 * @param microBatches of a step
 * @param samples of a micro-batch
 */
public record ModelledPeaks(
    StageCosts costs, PipelinePolicy policy, int stages, int microBatches, int samples)
    implements StagePeak {
  public ModelledPeaks {
    Check.that(
        stages >= 1 && microBatches >= 1 && samples >= 1,
        "counts must be >= 1: stages=%d, micro_batches=%d, samples=%d",
        stages,
        microBatches,
        samples);
  }

  @Override
  public double bytes(int stage, int first, int end) {
    if (!costs.isStage(first, end)) {
      return Double.POSITIVE_INFINITY;
    }
    int inFlight = policy.inFlightOf(stages - 1 - stage, microBatches);
    return costs.staticBytes(first, end)
        + inFlight * costs.heldBytes(first, end, samples)
        + costs.workingBytes(samples);
  }
}

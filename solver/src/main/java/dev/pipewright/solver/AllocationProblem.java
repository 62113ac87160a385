package dev.pipewright.solver;

import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.List;

/**
 * A chain of layers to be put on equal ranks, any layers on any rank, so that a pattern is short.
 *
 * @param ranks that there are; some may stay empty
 * @param capacityBytes of each rank
 * @param batches that the pattern takes in a period: k
 */
public record AllocationProblem(
    List<StageLoad> layers, int ranks, double capacityBytes, int batches) {
  public AllocationProblem {
    Check.that(!layers.isEmpty(), "a chain has layers: layers=%d", layers.size());
    Check.that(ranks >= 1, "an allocation has ranks: ranks=%d", ranks);
    Check.that(batches >= 1, "a pattern has batches: batches=%d", batches);
    PatternProblem.checkLoads(layers);
    layers = List.copyOf(layers);
  }
}

package dev.pipewright.solver;

import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.Collections;
import java.util.List;

/**
 * A chain of layers to be put on equal ranks, any layers on any rank, so that a pattern is short.
 *
 * @param ranks that there are; some may stay empty
 * @param capacityBytes of each rank
 * @param batches that the pattern takes in a period: k
 * @param secondsOfCut of one transfer between neighbouring layers, should they be on different
 *     ranks; activations and gradients take as long, on a link that each cut has to itself (§3.1)
 */
public record AllocationProblem(
    List<StageLoad> layers,
    int ranks,
    double capacityBytes,
    int batches,
    List<Double> secondsOfCut) {
  /** Transfers that take no time. */
  public AllocationProblem(List<StageLoad> layers, int ranks, double capacityBytes, int batches) {
    this(layers, ranks, capacityBytes, batches, Collections.nCopies(layers.size() - 1, 0.0));
  }

  public AllocationProblem {
    Check.that(!layers.isEmpty(), "a chain has layers: layers=%d", layers.size());
    Check.that(ranks >= 1, "an allocation has ranks: ranks=%d", ranks);
    Check.that(batches >= 1, "a pattern has batches: batches=%d", batches);
    Check.that(
        secondsOfCut.size() == layers.size() - 1,
        "one cut between neighbours: cuts=%d, layers=%d",
        secondsOfCut.size(),
        layers.size());
    PatternProblem.checkLoads(layers);
    layers = List.copyOf(layers);
    secondsOfCut = List.copyOf(secondsOfCut);
  }

  /** Whether any transfer takes time. */
  boolean transfers() {
    return secondsOfCut.stream().anyMatch(seconds -> seconds > 0);
  }

  /** The layers, with the transfers between them as stages where any takes time. */
  List<StageLoad> stages() {
    return transfers()
        ? StageLoad.withTransfers(
            layers, secondsOfCut.stream().mapToDouble(Double::doubleValue).toArray())
        : layers;
  }
}

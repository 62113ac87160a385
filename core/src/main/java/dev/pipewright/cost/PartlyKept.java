package dev.pipewright.cost;

import dev.pipewright.plan.LayerRange;
import java.util.List;

/**
 * What a stage holds and how much longer it takes where some runs of its layers hold their input
 * alone and are computed again, run by run, just before their backward passes.
 *
 * @param heldBytes what a micro-batch in flight holds, the stage's input included
 * @param workingBytes what the backward pass of one needs beyond that, at most
 * @param extraSeconds that the backward pass of a micro-batch takes longer
 */
public record PartlyKept(double heldBytes, double workingBytes, double extraSeconds) {
  /**
   * Goes through the layers once.
   *
   * @param again runs in order, numbered from the stage's first layer
   */
  public static PartlyKept of(LayerCosts costs, List<LayerRange> again) {
    double held = costs.input()[0];
    double peak = 0; // of one micro-batch during its backward pass
    double extra = 0;
    int layer = 0;
    for (LayerRange run : again) {
      for (; layer < run.first(); layer++) {
        held += costs.kept()[layer];
      }
      held += layer > 0 ? costs.input()[layer] : 0;
      double working = 0;
      for (; layer <= run.last(); layer++) {
        working += costs.kept()[layer];
        extra += costs.forward()[layer];
      }
      peak = Math.max(peak, held + working); // what later layers kept is gone by then
    }
    for (; layer < costs.size(); layer++) {
      held += costs.kept()[layer];
    }
    return new PartlyKept(held, Math.max(0, peak - held), extra);
  }

  /** What all micro-batches in flight hold, and the backward pass of one needs. */
  public double peakBytes(int inFlight) {
    return inFlight * heldBytes + workingBytes;
  }
}

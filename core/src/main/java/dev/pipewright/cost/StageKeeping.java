package dev.pipewright.cost;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a stage of a plan keeps of its micro-batches, and needs to compute them again; bytes. */
final class StageKeeping {
  private StageKeeping() {}

  static StageMemory memory(
      StagePlan stage,
      StageCosts part,
      Optional<PartlyKept> kept,
      int slice,
      int microBatches,
      long capacity) {
    int first = stage.firstLayer();
    int end = stage.lastLayer() + 1;
    double held = kept.map(PartlyKept::heldBytes).orElse(part.heldBytes(first, end, slice));
    double last = 0;
    double recomputed = kept.map(PartlyKept::workingBytes).orElse(0.0);
    double working = kept.map(PartlyKept::workingBytes).orElse(0.0);
    if (stage.recompute().wholeStage()) {
      held = part.inputBytes(first, slice);
      recomputed = part.recomputedBytes(first, end, slice);
      working = recomputed;
      boolean keepsLast = stage.recompute() == Recompute.EXCEPT_LAST;
      last = keepsLast && besideOthers(stage, microBatches) ? working : 0;
    }
    return new StageMemory(
        part.states(first, end),
        held,
        last,
        stage.inFlight(),
        recomputed,
        working + part.workingBytes(slice),
        new Bytes(capacity));
  }

  /** Whether the last micro-batch is in flight while another one is recomputed. */
  private static boolean besideOthers(StagePlan stage, int microBatches) {
    return Math.min(stage.inFlight(), microBatches) > 1;
  }

  /** A recomputed forward pass takes as long as the first, its exchanges included. */
  static PartlyKept partlyKept(
      StagePlan stage,
      StageCosts part,
      double pace,
      Optional<StageExchanges> exchanges,
      int slice) {
    int first = stage.firstLayer();
    LayerCosts layers = part.layers(first, stage.lastLayer() + 1, slice);
    double[] exchanged =
        exchanges
            .map(each -> part.byPosition(each.forward()))
            .orElseGet(() -> new double[part.size()]);
    for (int at = 0; at < layers.size(); at++) {
      layers.forward()[at] = layers.forward()[at] * pace + exchanged[first + at];
    }
    List<LayerRange> again = new ArrayList<>();
    for (LayerRange run : stage.again()) {
      again.add(new LayerRange(run.first() - first, run.last() - first));
    }
    return PartlyKept.of(layers, again);
  }
}

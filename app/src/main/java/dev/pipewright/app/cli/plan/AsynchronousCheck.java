package dev.pipewright.app.cli.plan;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.units.Units;

/** How a stage of a plan that never flushes is too large. */
public final class AsynchronousCheck {
  private AsynchronousCheck() {}

  /** What a stage needs, and what would help. */
  public static String tooLarge(AsynchronousPlan plan, int stage, StageMemory memory) {
    return "stage %d needs %s on %s of %s, for %d versions of its weights and %d micro-batches in flight; take fewer layers in it, smaller micro-batches, or pipedream-2bw"
        .formatted(
            stage,
            Units.binary(memory.peakBytes(), "B"),
            PlanProblems.devices(plan.stages().get(stage).devices()),
            memory.capacity(),
            plan.versions(stage),
            memory.inFlight());
  }
}

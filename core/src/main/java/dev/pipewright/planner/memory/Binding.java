package dev.pipewright.planner.memory;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.units.Units;

/** Says in a sentence what keeps a hybrid plan's peak from being smaller. */
final class Binding {
  private Binding() {}

  /** {@code one device}, {@code tensor over 8}. */
  private static String shared(HybridPlan.Stage stage) {
    int devices = stage.devices().size();
    return devices == 1 ? "one device" : stage.degrees().kind() + " over " + devices;
  }

  static String of(HybridPlan plan, double capacity) {
    HybridPlan.Stage stage = plan.stages().get(plan.fullest());
    StageMemory memory = stage.cost().memory();
    double held = memory.inFlight() * memory.heldBytes();
    boolean model = memory.staticBytes() >= held;
    double mean =
        plan.stages().stream()
            .mapToDouble(each -> each.cost().memory().peakBytes())
            .average()
            .orElse(0);
    return (model ? "weights" : "activations")
        + ": each device of stage "
        + plan.fullest()
        + " ("
        + shared(stage)
        + ") holds "
        + Units.binary(memory.staticBytes(), "B")
        + " of weights, gradients and optimizer state and "
        + Units.binary(held, "B")
        + " of activations of "
        + memory.inFlight()
        + (memory.inFlight() == 1 ? " micro-batch" : " micro-batches")
        + "; the mean of all stages is "
        + Units.percent(plan.peakBytes() > 0 ? mean / plan.peakBytes() : 1)
        + " of that; it uses "
        + Units.percent(plan.peakBytes() / capacity)
        + " of a device's memory";
  }
}

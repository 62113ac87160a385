package dev.pipewright.planner.memory;

import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.List;

/** Says in a sentence what keeps a plan's peak from being smaller. */
public final class PeakBinding {
  private PeakBinding() {}

  /** Why nothing fits and how much memory would do, where this plan has the smallest peak. */
  public static String remedy(Candidate smallest) {
    int fullest = fullest(smallest);
    StagePlan stage = smallest.plan().stages().get(fullest);
    boolean one = stage.firstLayer() == stage.lastLayer();
    return "the smallest peak of any plan is "
        + Units.binary(smallest.peakBytes(), "B")
        + " (stage "
        + fullest
        + ", "
        + (one
            ? "layer " + stage.firstLayer() + " alone"
            : "layers " + stage.firstLayer() + " to " + stage.lastLayer())
        + "), and a device has "
        + smallest.estimate().stages().get(fullest).memory().capacity()
        + "; give the devices that much with --memory"
        + (one ? "" : ", or take more of them")
        + (smallest.plan().microBatch() > 1 ? ", or a smaller --micro-batch" : "");
  }

  /** The first of the fullest stages. */
  private static int fullest(Candidate plan) {
    List<StageCost> stages = plan.estimate().stages();
    int fullest = 0;
    for (int stage = 1; stage < stages.size(); stage++) {
      double bytes = stages.get(stage).memory().peakBytes();
      fullest = bytes > stages.get(fullest).memory().peakBytes() ? stage : fullest;
    }
    return fullest;
  }

  /** {@code one device}, {@code tensor over 8}. */
  private static String shared(StagePlan stage) {
    int devices = stage.devices().size();
    if (devices == 1) {
      return "one device";
    }
    String kind =
        !stage.parallelism().several() ? "data" : stage.replicas() == 1 ? "tensor" : "data+tensor";
    return kind + " over " + devices;
  }

  static String of(Candidate plan, double capacity) {
    int fullest = fullest(plan);
    StageMemory memory = plan.estimate().stages().get(fullest).memory();
    double held = memory.inFlight() * memory.heldBytes();
    boolean model = memory.staticBytes() >= held;
    double mean =
        plan.estimate().stages().stream()
            .mapToDouble(each -> each.memory().peakBytes())
            .average()
            .orElse(0);
    return (model ? "weights" : "activations")
        + ": each device of stage "
        + fullest
        + " ("
        + shared(plan.plan().stages().get(fullest))
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

package dev.pipewright.planner.memory;

import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Optional;

/**
 * A pipeline whose stages are shared by their devices in different ways.
 *
 * @param microBatches of a step
 * @param microBatch samples of each
 * @param stepSeconds by the longest path through the step
 */
public record HybridPlan(
    PipelinePolicy policy,
    int microBatches,
    int microBatch,
    List<Stage> stages,
    double stepSeconds) {
  /**
   * One stage.
   *
   * @param firstLayer its first position in the model's chain
   * @param lastLayer its last position, inclusive
   * @param devices in tensor groups of {@code degrees.tensor()} one after the other
   * @param inFlight micro-batches whose activations it holds at once
   * @param cost of each of its devices
   * @param again the layers that run again before their backward passes, in order; each run of them
   *     holds its input until then
   */
  public record Stage(
      int firstLayer,
      int lastLayer,
      List<Integer> devices,
      Degrees degrees,
      int inFlight,
      StageCost cost,
      List<LayerRange> again) {
    public Stage {
      devices = List.copyOf(devices);
      again = List.copyOf(again);
    }

    /** A stage that keeps all. */
    public Stage(
        int firstLayer,
        int lastLayer,
        List<Integer> devices,
        Degrees degrees,
        int inFlight,
        StageCost cost) {
      this(firstLayer, lastLayer, devices, degrees, inFlight, cost, List.of());
    }

    /** What it gives up after the forward pass. */
    public Recompute recompute() {
      if (again.isEmpty()) {
        return Recompute.NONE;
      }
      return again.equals(List.of(new LayerRange(firstLayer, lastLayer)))
          ? Recompute.STAGE_INPUT
          : Recompute.SELECTIVE;
    }
  }

  public HybridPlan {
    stages = List.copyOf(stages);
  }

  /** What the fullest device holds. */
  public double peakBytes() {
    return stages.get(fullest()).cost.memory().peakBytes();
  }

  /** The first of the fullest stages. */
  public int fullest() {
    int fullest = 0;
    for (int stage = 1; stage < stages.size(); stage++) {
      double bytes = stages.get(stage).cost.memory().peakBytes();
      fullest = bytes > stages.get(fullest).cost.memory().peakBytes() ? stage : fullest;
    }
    return fullest;
  }

  /** Samples per second. */
  public double throughput() {
    return (double) microBatches * microBatch / stepSeconds;
  }

  /** The same as a plan that can be simulated and written; empty where tensors are divided. */
  public Optional<Plan> plan() {
    boolean divided = stages.stream().anyMatch(stage -> stage.degrees.tensor() > 1);
    return divided ? Optional.empty() : Optional.of(HybridShape.of(this).plan());
  }

  /** {@code [0..29]×d4 [30..54]×d2t2}: layers and degrees. */
  public String summary() {
    StringBuilder text = new StringBuilder();
    for (Stage stage : stages) {
      text.append(text.isEmpty() ? "" : " ")
          .append('[')
          .append(stage.firstLayer)
          .append(stage.lastLayer == stage.firstLayer ? "" : ".." + stage.lastLayer)
          .append("]×");
      Degrees degrees = stage.degrees;
      String data = degrees.data() > 1 || degrees.tensor() == 1 ? "d" + degrees.data() : "";
      text.append(data).append(degrees.tensor() > 1 ? "t" + degrees.tensor() : "");
    }
    return text.toString();
  }
}

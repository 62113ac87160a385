package dev.pipewright.plan;

import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A synchronous hybrid of data and pipeline parallelism: consecutive stages, each on its own
 * devices.
 *
 * @param policy the schedule's family
 * @param microBatches micro-batches per step, for each replica of the pipeline
 * @param microBatch samples of a micro-batch, for each replica of the pipeline
 * @param replicas how many copies of the pipeline run side by side; it divides every stage's
 *     devices
 * @param overlapGradients whether the all-reduce of a gradient starts as soon as the last
 *     micro-batch has produced it, or only after the stage's last backward pass
 */
public record Plan(
    PipelinePolicy policy,
    int microBatches,
    int microBatch,
    int replicas,
    boolean overlapGradients,
    List<StagePlan> stages) {
  public Plan {
    stages = List.copyOf(stages);
    Check.that(
        microBatches >= 1 && microBatch >= 1 && replicas >= 1,
        "counts must be >= 1: micro_batches=%d, micro_batch=%d, replicas=%d",
        microBatches,
        microBatch,
        replicas);
    StageOrder.check(stages);
    for (StagePlan stage : stages) {
      Check.that(
          stage.replicas() % replicas == 0,
          "each copy of the pipeline needs the same share of a stage: devices=%d, replicas=%d",
          stage.replicas(),
          replicas);
      Check.that(
          policy != PipelinePolicy.ALL || stage.inFlight() == microBatches,
          "gpipe holds all micro-batches at once: in_flight=%d, micro_batches=%d",
          stage.inFlight(),
          microBatches);
    }
  }

  /** Samples per step over all replicas. */
  public long globalBatch() {
    return (long) microBatches * microBatching();
  }

  /** Samples of one micro-batch over all replicas of the pipeline: what a stage's devices share. */
  public int microBatching() {
    return Math.multiplyExact(microBatch, replicas);
  }

  /** Layers of the model's chain that the plan covers. */
  public int layers() {
    return stages.get(stages.size() - 1).lastLayer() + 1;
  }

  /** Devices of all stages and replicas. */
  public int devices() {
    return stages.stream().mapToInt(stage -> stage.devices().size()).sum();
  }

  public int[] inFlight() {
    return stages.stream().mapToInt(StagePlan::inFlight).toArray();
  }

  /** The order of work of every stage. */
  public Schedule schedule() {
    return policy.schedule(microBatches, inFlight());
  }

  /** {@code [0..29]×8 [30..54]×8t4}: what {@link StagePlan#summary} says of each stage. */
  public String summary() {
    return stages.stream().map(StagePlan::summary).collect(Collectors.joining(" "));
  }

  /** What it is called in lists: {@code one device}, {@code data parallel}, {@code hybrid}, …. */
  public String kind() {
    if (devices() == 1) {
      return "one device";
    }
    if (stages.size() > 1) {
      boolean straight = stages.stream().allMatch(stage -> stage.devices().size() == replicas);
      return straight ? "straight pipeline" : "hybrid";
    }
    StagePlan stage = stages.get(0);
    if (!stage.parallelism().several()) {
      return overlapGradients ? "data parallel, overlapped" : "data parallel";
    }
    return stage.replicas() == 1 ? "tensor parallel" : "data and tensor parallel";
  }

  /** Whether the devices of some stage divide its layers. */
  public boolean dividesLayers() {
    return stages.stream().anyMatch(stage -> stage.parallelism().several());
  }

  /** The same plan with other stages. */
  public Plan with(List<StagePlan> others) {
    return new Plan(policy, microBatches, microBatch, replicas, overlapGradients, others);
  }
}

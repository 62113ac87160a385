package dev.pipewright.plan;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A synchronous hybrid of data and pipeline parallelism: consecutive stages on devices. Stages of
 * one rank of the schedule share their devices; other ranks have their own. Where the schedule runs
 * in both directions, the devices of a stage are those of the first direction.
 *
 * @param spec the schedule
 * @param microBatches micro-batches per step and replica of the pipeline, of all directions
 * @param microBatch samples of a micro-batch, for each replica of the pipeline
 * @param replicas how many copies of the pipeline run side by side; it divides every stage's
 *     devices
 * @param overlapGradients whether the all-reduce of a gradient starts as soon as the last
 *     micro-batch has produced it, or only after the stage's last backward pass
 * @param sharding what the devices that hold the same stage shard of its states
 */
public record PipelinePlan(
    ScheduleSpec spec,
    int microBatches,
    int microBatch,
    int replicas,
    boolean overlapGradients,
    List<StagePlan> stages,
    ZeroStage sharding)
    implements Plan {
  public PipelinePlan {
    stages = List.copyOf(stages);
    Check.that(
        microBatches >= 1 && microBatch >= 1 && replicas >= 1,
        "counts must be >= 1: micro_batches=%d, micro_batch=%d, replicas=%d",
        microBatches,
        microBatch,
        replicas);
    Check.that(!stages.isEmpty(), "a plan has stages: stages=%d", stages.size());
    StageOrder.check(stages, spec.placement(stages.size()));
    spec.check(microBatches, stages.stream().mapToInt(StagePlan::inFlight).toArray());
    for (StagePlan stage : stages) {
      Check.that(
          stage.replicas() % replicas == 0,
          "each copy of the pipeline needs the same share of a stage: devices=%d, replicas=%d",
          stage.replicas(),
          replicas);
      int slices = Math.multiplyExact(stage.replicas(), stage.parallelism().sampleParts());
      Check.that(
          stage.parallelism().sampleParts() == 1 || microBatch % (slices / replicas) == 0,
          "a micro-batch is a multiple of the devices that split its samples: parallelism=%s,"
              + " micro_batch=%d, devices=%d",
          stage.parallelism(),
          microBatch,
          slices / replicas);
    }
  }

  /** A plan whose devices hold all states of their stages. */
  public PipelinePlan(
      ScheduleSpec spec,
      int microBatches,
      int microBatch,
      int replicas,
      boolean overlapGradients,
      List<StagePlan> stages) {
    this(spec, microBatches, microBatch, replicas, overlapGradients, stages, ZeroStage.NOTHING);
  }

  /** The same plan whose devices shard the states of their stages. */
  public PipelinePlan with(ZeroStage other) {
    return new PipelinePlan(
        spec, microBatches, microBatch, replicas, overlapGradients, stages, other);
  }

  /**
   * The same plan with other sums of gradients.
   *
   * @param overlaps whether they run during the last backward pass
   */
  public PipelinePlan overlapping(boolean overlaps) {
    return new PipelinePlan(spec, microBatches, microBatch, replicas, overlaps, stages, sharding);
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
    return (int) stages.stream().flatMap(stage -> stage.devices().stream()).distinct().count();
  }

  /** The rank of each stage. */
  public Placement placement() {
    return spec.placement(stages.size());
  }

  /** Devices of each rank. */
  public List<List<Integer>> devicesByRank() {
    Placement placement = placement();
    List<List<Integer>> devices =
        new ArrayList<>(Collections.nCopies(placement.ranks(), List.of()));
    for (int stage = 0; stage < stages.size(); stage++) {
      devices.set(placement.rankOf(stage), stages.get(stage).devices());
    }
    return devices;
  }

  /** Slices of a micro-batch of a stage: the fewest of its ranks in all directions. */
  public int slices(int stage) {
    Placement placement = placement();
    StagePlan own = stages.get(stage);
    if (placement.chains() == 1) {
      return own.replicas();
    }
    int parts = own.parallelism().parts();
    List<List<Integer>> devices = devicesByRank();
    return IntStream.range(0, placement.chains())
        .map(chain -> placement.rankOf(chain * placement.depth() + stage))
        .map(rank -> devices.get(rank).size() / parts)
        .min()
        .orElseThrow();
  }

  /**
   * Whether all stages divide layers in the same way, so that what they divide by tokens stays
   * divided between them.
   */
  public boolean dividesAlike() {
    StagePlan first = stages.get(0);
    boolean samples = first.parallelism().sampleParts() > 1;
    for (StagePlan stage : stages) {
      if (!stage.parallelism().equals(first.parallelism())
          || (samples && stage.replicas() != first.replicas())) {
        return false;
      }
    }
    return true;
  }

  /** Whether messages go from a stage to the next: both exist, on different devices. */
  public boolean crosses(int stage) {
    Placement placement = placement();
    return stage >= 0
        && stage < placement.depth() - 1
        && placement.rankOf(stage) != placement.rankOf(stage + 1);
  }

  /** Whether the schedule computes gradients of inputs and weights apart. */
  public boolean splitsBackward() {
    return spec.splitsBackward();
  }

  /** Devices that hold a stage: those of all directions. */
  public List<Integer> holders(int stage) {
    Placement placement = placement();
    if (placement.chains() == 1) {
      return stages.get(stage).devices();
    }
    List<List<Integer>> devices = devicesByRank();
    return IntStream.range(0, placement.chains())
        .map(chain -> placement.rankOf(chain * placement.depth() + stage))
        .distinct()
        .boxed()
        .flatMap(rank -> devices.get(rank).stream())
        .toList();
  }

  public int[] inFlight() {
    return stages.stream().mapToInt(StagePlan::inFlight).toArray();
  }

  /** The order of work of every stage. */
  public Schedule schedule() {
    return spec.schedule(microBatches, inFlight());
  }

  /** {@code [0..29]×8 [30..54]×8t4}: what {@link StagePlan#summary} says of each stage. */
  @Override
  public String summary() {
    return stages.stream().map(StagePlan::summary).collect(Collectors.joining(" "));
  }

  /** What it is called in lists: {@code one device}, {@code data parallel}, {@code hybrid}, …. */
  public String kind() {
    return sharding == ZeroStage.NOTHING
        ? arrangement()
        : arrangement() + ", ZeRO " + sharding.level();
  }

  private String arrangement() {
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
    Parallelism parallelism = stage.parallelism();
    boolean layers = !parallelism.dividesTokens() && parallelism.expertParts() == 1;
    String divided = layers ? Parallelism.Kind.TENSOR.word() : parallelism.word();
    return (stage.replicas() == 1 ? "" : "data and ") + divided + " parallel";
  }

  /** Whether the devices of some stage divide its layers. */
  public boolean dividesLayers() {
    return stages.stream().anyMatch(stage -> stage.parallelism().several());
  }

  /** The same stages in another order of work, which has its own number of micro-batches. */
  public PipelinePlan inOrder(FixedOrder order) {
    int[] inFlight = order.inFlight(stages.size(), order.microBatches());
    List<StagePlan> others = new ArrayList<>();
    for (int stage = 0; stage < inFlight.length; stage++) {
      others.add(stages.get(stage).holding(inFlight[stage]));
    }
    return new PipelinePlan(
        order, order.microBatches(), microBatch, replicas, overlapGradients, others, sharding);
  }

  /** The same plan with other stages. */
  public PipelinePlan with(List<StagePlan> others) {
    return new PipelinePlan(
        spec, microBatches, microBatch, replicas, overlapGradients, others, sharding);
  }
}

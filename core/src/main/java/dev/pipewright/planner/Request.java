package dev.pipewright.planner;

import dev.pipewright.cost.CostModel;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.OptionalInt;

/**
 * What a synchronous planner is asked for.
 *
 * @param globalBatch samples per step
 * @param microBatch samples of a micro-batch of each copy of the pipeline, which divides the global
 *     batch but under {@link CostModel#DAPPLE_REPO}, which truncates; where it is not given every
 *     divisor of the global batch is tried
 * @param policies schedules to choose from
 * @param recomputation whether stages may, may not or must recompute their activations
 * @param costModel what ranks candidates
 * @param shape which plans are considered
 * @param stages of the pipeline, exactly so many; any number otherwise
 * @param restriction which plans may be the answer
 * @param flags that the planner declares for itself
 */
public record Request(
    int globalBatch,
    OptionalInt microBatch,
    List<PipelinePolicy> policies,
    Recomputation recomputation,
    CostModel costModel,
    Shape shape,
    OptionalInt stages,
    Restriction restriction,
    FlagValues flags) {
  /** Which plans are considered. */
  public enum Shape {
    ANY,
    /** One stage. */
    DATA_PARALLEL,
    /**
     * At most two stages: with straight pipelines all that the program of DAPPLE's authors tries.
     */
    TWO_STAGES,
    /** One device for each stage of a copy of the pipeline. */
    STRAIGHT,
    /** One device for each stage and one pipeline: no data parallelism at all. */
    PIPELINE;

    boolean oneDevicePerStage() {
      return this == STRAIGHT || this == PIPELINE;
    }
  }

  public Request {
    policies = List.copyOf(policies);
    Check.that(globalBatch >= 1, "the global batch must be >= 1: global_batch=%d", globalBatch);
    Check.that(!policies.isEmpty(), "at least one schedule must be allowed: policies=%s", policies);
    microBatch.ifPresent(samples ->
        Check.that(
            samples >= 1
                && (globalBatch % samples == 0
                    || (costModel == CostModel.DAPPLE_REPO && samples <= globalBatch)),
            "the global batch must be a multiple of the micro-batch: global_batch=%d, micro_batch=%d",
            globalBatch,
            samples));
    stages.ifPresent(
        count -> Check.that(count >= 1, "a pipeline has at least one stage: stages=%d", count));
  }

  /** Without a restriction and flags. */
  public Request(
      int globalBatch,
      OptionalInt microBatch,
      List<PipelinePolicy> policies,
      Recomputation recomputation,
      CostModel costModel,
      Shape shape,
      OptionalInt stages) {
    this(
        globalBatch,
        microBatch,
        policies,
        recomputation,
        costModel,
        shape,
        stages,
        Restriction.NONE,
        FlagValues.NONE);
  }

  /** Any number of stages. */
  public Request(
      int globalBatch,
      OptionalInt microBatch,
      List<PipelinePolicy> policies,
      Recomputation recomputation,
      CostModel costModel,
      Shape shape) {
    this(globalBatch, microBatch, policies, recomputation, costModel, shape, OptionalInt.empty());
  }

  /** All shapes. */
  public Request(
      int globalBatch,
      OptionalInt microBatch,
      List<PipelinePolicy> policies,
      Recomputation recomputation,
      CostModel costModel) {
    this(globalBatch, microBatch, policies, recomputation, costModel, Shape.ANY);
  }

  /** The same for pipelines of exactly so many stages; of any number where there is none. */
  public Request withStages(OptionalInt count) {
    return new Request(
        globalBatch,
        microBatch,
        policies,
        recomputation,
        costModel,
        shape,
        count,
        restriction,
        flags);
  }

  /** The same with flags of the planner's own. */
  public Request withFlags(FlagValues other) {
    return new Request(
        globalBatch,
        microBatch,
        policies,
        recomputation,
        costModel,
        shape,
        stages,
        restriction,
        other);
  }

  /** The same with another use of recomputation. */
  public Request recomputing(Recomputation other) {
    return new Request(
        globalBatch, microBatch, policies, other, costModel, shape, stages, restriction, flags);
  }

  /** The same where only some plans may be the answer. */
  public Request within(Restriction other) {
    return new Request(
        globalBatch, microBatch, policies, recomputation, costModel, shape, stages, other, flags);
  }

  /** Whether a step of one pipeline may have micro-batches of so many samples. */
  public boolean allowsMicroBatch(int samples) {
    return globalBatch % samples == 0 && microBatch.orElse(samples) == samples;
  }

  /** Whether a pipeline of so many stages was asked for. */
  boolean allows(int count) {
    return stages.orElse(count) == count;
  }

  /** Everything allowed, the default cost model. */
  public static Request of(int globalBatch) {
    return new Request(
        globalBatch,
        OptionalInt.empty(),
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        Recomputation.SELECTIVE,
        CostModel.PIPEWRIGHT);
  }
}

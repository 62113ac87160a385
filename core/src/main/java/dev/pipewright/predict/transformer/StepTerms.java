package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;

/**
 * Makes the terms that runs of one network on one machine share, so that a search evaluates their
 * steps without repeating the formulas of each. Runs may differ in layout, split, recomputation and
 * offloading, and in nothing else.
 */
public final class StepTerms {
  private final TransformerSizes sizes;
  private final StackConstants constants;

  private StepTerms(TransformerSizes sizes, StackConstants constants) {
    this.sizes = sizes;
    this.constants = constants;
  }

  /**
   * Of {@code run} and its like.
   *
   * @throws IllegalArgumentException for networks that the formulas do not cover, and for negative
   *     constants, with which bounds of a step would not hold
   */
  public static StepTerms of(TransformerRun run, CalibratedConstants constants) {
    StackConstants k = StackConstants.of(constants, run);
    double[] added = {
      k.elementwise(),
      k.loss(),
      k.optimizer(),
      k.speed(),
      k.transferExposed(),
      k.gradientExposed(),
      k.shardedSlowdown(),
      k.shardedLatency(),
      k.straggling(),
      k.fixed(),
      k.offload()
    };
    for (double constant : added) {
      Check.that(constant >= 0, "a calibrated constant is negative: %s", constant);
    }
    return new StepTerms(TransformerSizes.of(run.shape()), k);
  }

  /** Of one micro-batch; the run's pipeline, data parallelism and ZeRO stage do not matter. */
  public MicroBatchTerms microBatch(TransformerRun run) {
    return new MicroBatchTerms(
        MicroBatchSeconds.of(run, sizes, constants), MicroBatchBytes.of(run, sizes));
  }

  /**
   * Of the degrees of parallelism under every ZeRO stage; the run's own stage, micro-batch,
   * recomputation, sequence parallelism and offloading do not matter.
   */
  public MeshTerms mesh(TransformerRun run) {
    return MeshTerms.of(run, sizes, constants);
  }
}

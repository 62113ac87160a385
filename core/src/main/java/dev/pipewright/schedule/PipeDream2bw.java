package dev.pipewright.schedule;

import dev.pipewright.units.Check;

/**
 * PipeDream-2BW: one forward, one backward that never flushes, with two versions of each stage's
 * weights: gradients of {@code perUpdate} micro-batches add up to an update, and those that are
 * under way then finish with the weights they began with.
 *
 * <p>Paper: D. Narayanan, A. Phanishayee, K. Shi, X. Chen, M. Zaharia, <i>Memory-Efficient
 * Pipeline-Parallel DNN Training</i>, ICML 2021, arXiv:2006.09503, §3.1: the rule is θ(t+1) = θ(t)
 * − γ∇f(θ(t−1)) for every stage. Its m is our {@code perUpdate}, its d our {@code stages}. As
 * micro-batches in flight are no more than stages, those of two batches at most are under way at
 * once. O(ops).
 */
public final class PipeDream2bw {
  /** The schedule's name. */
  public static final String NAME = "pipedream-2bw";

  private PipeDream2bw() {}

  /**
   * Micro-batches are counted through all updates.
   *
   * @param perUpdate micro-batches of an update, as many as stages or more
   */
  public static Schedule of(int stages, int perUpdate, int updates) {
    Check.that(
        stages >= 1 && updates >= 1,
        "a pipeline has stages and updates: stages=%d, updates=%d",
        stages,
        updates);
    Check.that(
        perUpdate >= stages,
        "two versions are enough from as many micro-batches per update as stages on: per_update=%d; take %d or more",
        perUpdate,
        stages);
    int microBatches = Math.multiplyExact(perUpdate, updates);
    long[][] programs = new long[stages][];
    for (int stage = 0; stage < stages; stage++) {
      programs[stage] = UpdatedProgram.of(stage, microBatches, stages - stage, perUpdate);
    }
    return new Schedule(NAME, stages, microBatches, programs);
  }

  /**
   * How many updates the weights have seen that both passes of a micro-batch use: those before the
   * last one that the batches before it make.
   */
  public static int version(int microBatch, int perUpdate) {
    return Math.max(microBatch / perUpdate - 1, 0);
  }
}

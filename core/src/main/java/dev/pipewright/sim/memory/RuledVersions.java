package dev.pipewright.sim.memory;

import java.util.function.IntUnaryOperator;

/**
 * A rule gives each micro-batch its version, which may be older than the newest: a version stays
 * until all micro-batches that need it are done, those that have not begun included. Micro-batches
 * end in order.
 *
 * <p>Paper: D. Narayanan and others, <i>Memory-Efficient Pipeline-Parallel DNN Training</i>, ICML
 * 2021, arXiv:2006.09503, §3.1: gradients of the version before the newest, in one stage as well.
 */
final class RuledVersions implements Versions {
  private final IntUnaryOperator versionOf;
  private final int microBatches;
  private int newest;
  private int oldest; // that a micro-batch still needs
  private int done; // micro-batches

  RuledVersions(IntUnaryOperator versionOf, int microBatches) {
    this.versionOf = versionOf;
    this.microBatches = microBatches;
  }

  @Override
  public int take(int microBatch) {
    return versionOf.applyAsInt(microBatch);
  }

  @Override
  public int update() {
    int before = newest - oldest;
    newest++;
    oldest = needed();
    return newest - oldest - before;
  }

  @Override
  public int leave(int version) {
    int before = oldest;
    done++;
    oldest = needed();
    return oldest - before;
  }

  private int needed() {
    return done == microBatches ? newest : Math.min(newest, versionOf.applyAsInt(done));
  }
}

package dev.pipewright.execution;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Sharding;
import dev.pipewright.schedule.Placement;
import java.util.TreeSet;

/**
 * What a worker need not hold because others that hold the same stages share their states out with
 * it ({@link Sharding}). While it computes, it holds more for a moment: gradients that are summed,
 * and parameters of the layers at hand.
 */
public final class SharedOut {
  /**
   * Parameters that are got at once where each worker has its part of them only: those of so many
   * layers, or of one that has more.
   */
  public static final long GATHERED_BYTES = 1L << 20;

  private static final int AT_ONCE = 2; // pieces that are used, and on their way

  private SharedOut() {}

  /** Of a worker of a rank. */
  static double bytes(StageCosts costs, Assignment assignment, int rank) {
    Placement placement = assignment.schedule().placement();
    TreeSet<Integer> depths = new TreeSet<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank) {
        depths.add(stage % placement.depth());
      }
    }
    double bytes = 0;
    for (int depth : depths) {
      int same = assignment.holders(depth, assignment.firstWorker(rank)).size();
      bytes += bytes(costs, assignment, depth, 1 - 1.0 / same);
    }
    return bytes;
  }

  /**
   * Of a stage.
   *
   * @param others the share of its states that other workers have
   */
  private static double bytes(StageCosts costs, Assignment assignment, int depth, double others) {
    LayerRange range = assignment.stages().get(depth).range();
    int end = range.last() + 1;
    double[] before = costs.parameterBytes();
    double parameters = before[end] - before[range.first()];
    double largest = GATHERED_BYTES;
    for (int at = range.first(); at < end; at++) {
      largest = Math.max(largest, before[at + 1] - before[at]);
    }
    Sharding sharding = assignment.sharding(depth);
    double bytes = 0;
    if (sharding.atLeast(Sharding.OPTIMIZER)) {
      bytes += others * (costs.staticBytes(range.first(), end) - 2 * parameters);
    }
    if (sharding.atLeast(Sharding.GRADIENTS)) {
      bytes += Math.max(0, others * parameters - AT_ONCE * (double) Expectation.BUCKET_BYTES);
    }
    if (sharding.atLeast(Sharding.PARAMETERS)) {
      bytes += Math.max(0, others * parameters - AT_ONCE * largest);
    }
    return bytes;
  }
}

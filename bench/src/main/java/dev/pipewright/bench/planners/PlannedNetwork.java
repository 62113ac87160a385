package dev.pipewright.bench.planners;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.planner.partition.OnePath;

/**
 * A network on a cluster, for planners to plan.
 *
 * @param globalBatch samples of a step
 * @param miniBatch samples that asynchronous planners take for a mini-batch
 */
record PlannedNetwork(StageCosts costs, int globalBatch, int miniBatch) {
  /** Micro-batches of a step for planners that want their number. */
  private static final int PER_DEVICE = 2;

  Chain chain() {
    return costs.workload().chain();
  }

  Cluster cluster() {
    return costs.workload().cluster();
  }

  int devices() {
    return cluster().size();
  }

  /** Two micro-batches for each device, or as many as there are samples. */
  int microBatch() {
    return Math.max(1, globalBatch / (PER_DEVICE * devices()));
  }

  /** The same without what others have prepared. */
  PlannedNetwork fresh() {
    return new PlannedNetwork(new StageCosts(costs.workload()), globalBatch, miniBatch);
  }

  /** Positions of the chain that follow one another. */
  int[] path() {
    return OnePath.positions(chain());
  }
}

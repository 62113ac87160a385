package dev.pipewright.predict.transformer;

/**
 * Seconds of a micro-batch with parameters that are sharded layer by layer: gathered before each
 * pass, with gradients reduced and scattered after the backward pass. The next layer's gathering
 * overlaps with computation and slows it. An object holds the exchanges of one pipeline rank, each
 * of whose chunks gathers its own layers.
 *
 * <p>Source: Y. Zhao et al., <i>PyTorch FSDP</i>, VLDB 2023, arXiv:2304.11277, §3.2 (hybrid
 * sharding) and §3.3 (overlap).
 */
final class ShardedTime {
  private static final double HALF = 2; // bytes of an element

  private final TransformerRun run;
  private final StackConstants constants;
  private final CollectiveTime collectives;
  private final double group; // ranks of a shard group
  private final double bus; // bytes/s of its collectives
  private final double latency; // seconds of a collective
  private final double replicas; // of a shard group
  private final StageSplit.Rank rank;
  private final boolean keepsGathered;
  private final double forwardExchange; // seconds
  private final double backwardExchange;
  private final double first; // of each chunk, that nothing overlaps

  ShardedTime(
      TransformerRun run,
      StackConstants constants,
      CollectiveTime collectives,
      RankWeights weights,
      boolean tied,
      StageSplit.Rank rank) {
    this.run = run;
    this.constants = constants;
    this.collectives = collectives;
    this.rank = rank;
    TrainingLayout layout = run.layout();
    this.group = layout.shardGroup();
    double domain = run.machine().domain();
    double inside = Math.min(group, Math.max(1, Math.floor(domain / layout.tensor())));
    double network =
        collectives.networkRate(constants.network())
            * Math.min(1, inside * layout.tensor() / domain);
    this.bus = group > inside ? Math.min(constants.shardedBus(), network) : constants.shardedBus();
    this.latency = constants.shardedLatency() * CollectiveTime.log2(Math.max(2, group));
    this.replicas = layout.zero() == 3 ? layout.shardReplicas() : 1;
    this.keepsGathered = layout.zero() == 2;
    double gradient = run.formats().exchangedGradientBytes();
    double expertLayer = weights.mixture() + weights.experts();
    double gather =
        rank.dense() * exchange(weights.dense(), HALF)
            + rank.mixtures() * exchange(expertLayer, HALF);
    double scatter =
        rank.dense() * (exchange(weights.dense(), gradient) + amongReplicas(weights.dense()))
            + rank.mixtures() * (exchange(expertLayer, gradient) + amongReplicas(expertLayer));
    boolean both = rank.embeddings() > 0 && rank.heads() > 0;
    double ends = weights.end() * (both && tied ? 1 : rank.embeddings() + rank.heads());
    this.forwardExchange = gather + exchange(ends, HALF);
    this.backwardExchange =
        (keepsGathered ? 0 : gather) + scatter + exchange(ends, gradient) + amongReplicas(ends);
    this.first =
        layout.interleave()
            * Math.max(
                rank.dense() > 0 ? exchange(weights.dense(), HALF) : 0,
                rank.mixtures() > 0 ? exchange(expertLayer, HALF) : 0);
  }

  /** What sharding adds to a micro-batch, one of {@code batches} of a step. */
  double exposed(MicroBatchSeconds one, double batches) {
    double gathers = keepsGathered ? batches : 1; // micro-batches that share a gathering
    return beyond(one.forward(rank), forwardExchange / gathers)
        + beyond(one.backward(rank), backwardExchange)
        + 2 * (first / gathers);
  }

  /** Seconds that an overlapped exchange adds to computation. */
  private double beyond(double computation, double exchange) {
    return Math.max(computation, exchange)
        + constants.shardedSlowdown() * Math.min(computation, exchange)
        - computation;
  }

  /** An all-gather or reduce-scatter of {@code elements} in the shard group. */
  private double exchange(double elements, double bytes) {
    return group > 1 && elements > 0 ? bytes * elements * (group - 1) / group / bus + latency : 0;
  }

  /** An all-reduce of sharded gradients among the replicas of hybrid sharding. */
  private double amongReplicas(double elements) {
    double rate = collectives.networkRate(constants.network()) / run.machine().domain();
    return replicas > 1
        ? 2
            * run.formats().exchangedGradientBytes()
            * elements
            / group
            * (replicas - 1)
            / replicas
            / rate
        : 0;
  }
}

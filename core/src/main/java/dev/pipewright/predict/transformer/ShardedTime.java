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

  private final StackConstants constants;
  private final StageSplit.Rank rank;
  private final boolean keepsGathered;
  private final double forwardExchange; // seconds
  private final double backwardExchange;
  private final double first; // of each chunk, that nothing overlaps

  /** Ranks that share out parameters, as many in every copy. */
  private final class Shards {
    private final TransformerRun run;
    private final double members;
    private final double copies;
    private final double bus; // bytes/s of their collectives
    private final double latency; // seconds of a collective
    private final double copiesRate; // bytes/s between copies

    /**
     * Of {@code replicas} ranks with the same parameters.
     *
     * @param stride from one of them to the next; as many such groups use a machine's network
     */
    Shards(
        TransformerRun run,
        CollectiveTime collectives,
        double members,
        double replicas,
        double stride) {
      this.run = run;
      this.members = members;
      this.copies = run.layout().zero() == 3 ? replicas / members : 1;
      double domain = run.machine().domain();
      double inside = Math.min(members, Math.max(1, Math.floor(domain / stride)));
      double network = collectives.networkRate(constants.network());
      double share = network * inside / Math.min(domain, stride * inside);
      this.bus =
          members > inside ? Math.min(constants.shardedBus(), share) : constants.shardedBus();
      this.latency = constants.shardedLatency() * CollectiveTime.log2(Math.max(2, members));
      this.copiesRate = network / domain;
    }

    /** An all-gather of {@code elements}. */
    double gather(double elements) {
      return exchange(elements, HALF);
    }

    /** A reduce-scatter of gradients, and their all-reduce among copies (hybrid sharding). */
    double scatter(double elements) {
      double gradient = run.formats().exchangedGradientBytes();
      double among =
          copies > 1 ? 2 * gradient * elements / members * (copies - 1) / copies / copiesRate : 0;
      return exchange(elements, gradient) + among;
    }

    private double exchange(double elements, double bytes) {
      return members > 1 && elements > 0
          ? bytes * elements * (members - 1) / members / bus + latency
          : 0;
    }
  }

  ShardedTime(
      TransformerRun run,
      StackConstants constants,
      CollectiveTime collectives,
      RankWeights weights,
      boolean tied,
      StageSplit.Rank rank) {
    this.constants = constants;
    this.rank = rank;
    TrainingLayout layout = run.layout();
    this.keepsGathered = layout.zero() == 2;
    Shards shared =
        new Shards(run, collectives, layout.shardGroup(), layout.replicas(), layout.tensor());
    Shards experts =
        new Shards(
            run,
            collectives,
            layout.expertShardGroup(),
            layout.expertReplicas(),
            (double) layout.expert() * layout.expertTensor());
    double gatherDense = shared.gather(weights.dense());
    double gatherMixture = shared.gather(weights.mixture()) + experts.gather(weights.experts());
    double gather = rank.dense() * gatherDense + rank.mixtures() * gatherMixture;
    double scatter =
        rank.dense() * shared.scatter(weights.dense())
            + rank.mixtures()
                * (shared.scatter(weights.mixture()) + experts.scatter(weights.experts()));
    boolean both = rank.embeddings() > 0 && rank.heads() > 0;
    double ends = weights.end() * (both && tied ? 1 : rank.embeddings() + rank.heads());
    this.forwardExchange = gather + shared.gather(ends);
    this.backwardExchange = (keepsGathered ? 0 : gather) + scatter + shared.scatter(ends);
    this.first =
        layout.interleave()
            * Math.max(rank.dense() > 0 ? gatherDense : 0, rank.mixtures() > 0 ? gatherMixture : 0);
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
}

package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.NumberFormats.StateBytes;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of each pipeline rank.
 *
 * <p>With a pipeline whose gradients are reduced and parameters gathered once a step, both are
 * whole on the peak: ZeRO 2 and 3 hold what ZeRO 1 holds.
 *
 * <p>Sources: S. Rajbhandari et al., <i>ZeRO</i>, arXiv:1910.02054, §5 (sharded state); V.
 * Korthikanti et al., arXiv:2205.05198, §4.2.3 (micro-batches in flight of interleaved 1F1B).
 */
final class RankMemoryFormula {
  private static final double NORM_VECTORS = 4; // scales and shifts of a layer's two norms
  private static final double GATHERED_LAYERS = 2; // the one that computes and its neighbour

  private final TransformerRun run;
  private final TransformerSizes sizes;
  private final TrainingLayout layout;
  private final RankWeights weights;
  private final double denseLayer; // elements, norms included
  private final double mixtureLayer;

  RankMemoryFormula(TransformerRun run, TransformerSizes sizes) {
    this.run = run;
    this.sizes = sizes;
    this.layout = run.layout();
    this.weights = RankWeights.of(run, sizes);
    this.denseLayer = weights.dense() + NORM_VECTORS * sizes.hidden();
    this.mixtureLayer = weights.mixture() + NORM_VECTORS * sizes.hidden();
  }

  /** All ranks under 1F1B, interleaved or not; the first stage's first. */
  List<TransformerRankBytes> ranks() {
    MicroBatchBytes one = MicroBatchBytes.of(run, sizes);
    List<StageSplit.Rank> held = run.split().ranks(sizes);
    List<Double> waiting = new ArrayList<>();
    for (int rank = 0; rank < held.size(); rank++) {
      waiting.add(waiting(held.get(rank), rank, one, layout.microBatches()));
    }
    return ranks(waiting);
  }

  /** All ranks where so many bytes of each wait for backward passes at its peak. */
  List<TransformerRankBytes> ranks(List<Double> waiting) {
    MicroBatchBytes one = MicroBatchBytes.of(run, sizes);
    List<StageSplit.Rank> ranks = run.split().ranks(sizes);
    List<TransformerRankBytes> bytes = new ArrayList<>();
    for (int rank = 0; rank < ranks.size(); rank++) {
      StageSplit.Rank held = ranks.get(rank);
      double kept = waiting.get(rank) * onDevice(run.offload().layers()) + one.predictions(held);
      bytes.add(
          new TransformerRankBytes(
              state(held),
              kept,
              one.workingSet(),
              one.loss(held),
              one.embedding(held),
              run.machine().workspaceBytes()));
    }
    return bytes;
  }

  /** Activations of a rank's layers that wait for their backward passes at its peak. */
  double waiting(StageSplit.Rank held, int rank, MicroBatchBytes one, int batches) {
    return one.layers(held) * inFlight(rank, batches);
  }

  /** The share of waiting activations that stays on the device. */
  double onDevice(int offloaded) {
    double all = Math.max(1, (double) sizes.layers() / layout.pipeline());
    return 1 - Math.min(1, offloaded / all);
  }

  /** Micro-batches of all the rank's layers that wait at its peak; never more on later ranks. */
  private double inFlight(int rank, int batches) {
    int later = layout.pipeline() - rank; // ranks from this one on
    int chunks = layout.interleave();
    if (chunks == 1) {
      return Math.min(batches, later);
    }
    long mostChunks = (chunks - 1L) * layout.pipeline() + 1 + 2L * (later - 1);
    return (double) Math.min((long) batches * chunks, mostChunks) / chunks;
  }

  /** Optimizer state, with a copy of the gradients, that the host holds for a GPU of a rank. */
  double hostState(StageSplit.Rank held) {
    StateBytes bytes = run.formats().state();
    double each = run.offload().optimizer() * (bytes.optimizer() + bytes.gradient());
    boolean sharded = run.kept().shardedOptimizer();
    return each * shared(held) / (sharded ? layout.optimizerShards() : 1)
        + each * experts(held) / (sharded ? layout.expertShards() : 1);
  }

  /** Elements of a rank that its data-parallel ranks share. */
  private double shared(StageSplit.Rank held) {
    double predictions = held.predictions();
    double layers = held.dense() * denseLayer + held.mixtures() * mixtureLayer;
    layers += predictions * (sizes.hasMixtures() ? mixtureLayer : denseLayer);
    layers += predictions * (2 * sizes.hidden() * sizes.hidden() / layout.tensor());
    layers += held.embeddings() > 0 ? sizes.learnedPositions() * sizes.hidden() : 0;
    return layers + ends(held);
  }

  private double experts(StageSplit.Rank held) {
    return (held.mixtures() + held.predictions()) * weights.experts();
  }

  /** Weights, gradients and optimizer state of a rank. */
  double state(StageSplit.Rank held) {
    double shared = shared(held);
    double experts = experts(held);
    double narrow = run.formats().products().narrow() ? shared - ends(held) + experts : 0;
    StateBytes bytes = run.formats().state();
    double largest = // elements of a layer
        Math.max(
            sizes.hasDense() ? denseLayer : 0,
            sizes.hasMixtures() ? mixtureLayer + weights.experts() : 0);
    if (layout.shardsParameters()) {
      double gathered = GATHERED_LAYERS * run.kept().gatheredBytes() * largest;
      double each = bytes.total() - bytes.optimizer() * run.offload().optimizer();
      return (shared * each + narrow) / layout.optimizerShards()
          + experts * each / layout.expertShards()
          + gathered;
    }
    double buckets = layout.shardsGradients() ? GATHERED_LAYERS * bytes.gradient() * largest : 0;
    return shared * element(layout.optimizerShards())
        + experts * element(layout.expertShards())
        + narrow
        + buckets;
  }

  /** Bytes of an element whose parameter is whole and whose other state has so many shards. */
  private double element(double shards) {
    StateBytes bytes = run.formats().state();
    double gradient = bytes.gradient() / (layout.shardsGradients() ? shards : 1);
    double optimizer = bytes.optimizer() / (run.kept().shardedOptimizer() ? shards : 1);
    return bytes.weight() + gradient + optimizer * (1 - run.offload().optimizer());
  }

  /** Elements of embedding and head; a tied table counts once on a rank that has both. */
  private double ends(StageSplit.Rank held) {
    boolean first = held.embeddings() > 0;
    boolean last = held.heads() > 0;
    double tables = first && last && sizes.tied() ? 1 : (first ? 1 : 0) + (last ? 1 : 0);
    boolean copy = held.predictions() > 0 && !first; // of the embedding, for the next token
    return (tables + (copy ? 1 : 0)) * weights.end();
  }
}

package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.RecomputePolicy.Full;
import dev.pipewright.predict.transformer.TransformerRun.Offload;

/**
 * Bytes of one micro-batch by kind of layer and end. They depend on the same as {@link
 * MicroBatchSeconds}.
 *
 * @param dense kept of a dense layer; 0 where no layer is dense
 * @param mixture kept of a mixture of experts; 0 without one
 * @param prediction kept of a layer of multi-token prediction
 * @param workingSet of the layer that is recomputed or moved to the host
 * @param logits of the last rank without multi-token prediction
 * @param lossStates of the last rank, for its loss
 * @param embedding of the first rank
 */
record MicroBatchBytes(
    double dense,
    double mixture,
    double prediction,
    double workingSet,
    double logits,
    double lossStates,
    double embedding) {
  private static final double LOSS_STATE = 6; // bytes of a feature of a token
  private static final double EMBEDDED = 2;
  private static final double MASK = 1; // of dropout
  private static final double PREDICTED = 8; // of the features that meet in a prediction

  static MicroBatchBytes of(TransformerRun run, TransformerSizes sizes) {
    double states = run.tokens() * sizes.hidden() / run.layout().normRanks();
    double dense = sizes.hasDense() ? kept(run, sizes, false) : 0;
    double mixture = sizes.hasMixtures() ? kept(run, sizes, true) : 0;
    double prediction = sizes.hasMixtures() ? mixture : dense;
    boolean recomputed = run.recompute() instanceof Full;
    return new MicroBatchBytes(
        dense,
        mixture,
        prediction + PREDICTED * run.tokens() * sizes.hidden(),
        run.offload().parts().isEmpty()
            ? recomputed ? recomputedLayer(run, sizes) : 0
            : movedLayer(run, sizes),
        run.kept().logitBytes() * run.tokens() * sizes.vocabulary() / run.layout().tensor(),
        LOSS_STATE * states,
        (run.kept().hiddenDropout() ? EMBEDDED + MASK : EMBEDDED) * states);
  }

  private static double kept(TransformerRun run, TransformerSizes sizes, boolean mixture) {
    LayerActivations layer = LayerActivations.of(run, sizes, mixture);
    return layer.total() - layer.moved(run.offload());
  }

  /** Bytes of one layer while it is recomputed. */
  private static double recomputedLayer(TransformerRun run, TransformerSizes sizes) {
    return Math.max(
        sizes.hasDense() ? LayerActivations.counted(run, sizes, false).total() : 0,
        sizes.hasMixtures() ? LayerActivations.counted(run, sizes, true).total() : 0);
  }

  /** Bytes of the layer that is being moved to the host. */
  private static double movedLayer(TransformerRun run, TransformerSizes sizes) {
    Offload offload = run.offload();
    return Math.max(
        sizes.hasDense() ? LayerActivations.of(run, sizes, false).moved(offload) : 0,
        sizes.hasMixtures() ? LayerActivations.of(run, sizes, true).moved(offload) : 0);
  }

  /** Kept of a rank's layers for one micro-batch. */
  double layers(StageSplit.Rank rank) {
    return rank.dense() * dense + rank.mixtures() * mixture;
  }

  /** Kept of a rank's layers of multi-token prediction. */
  double predictions(StageSplit.Rank rank) {
    return rank.predictions() * prediction;
  }

  /** Of the loss, on a rank that has it. */
  double loss(StageSplit.Rank rank) {
    return rank.heads() > 0 ? logits * (1 + rank.predictions()) + lossStates : 0;
  }

  /** Of the embedding, on a rank that has it. */
  double embedding(StageSplit.Rank rank) {
    return rank.embeddings() > 0 ? embedding : 0;
  }
}

package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.LayerTime.LayerSeconds;

/**
 * Seconds of one micro-batch by kind of layer and end. They depend on tensor, context and expert
 * parallelism, on the size of the micro-batch and on recomputation, but neither on the pipeline nor
 * on data parallelism.
 */
final class MicroBatchSeconds {
  private static final double END_PRODUCTS = 3;

  private final LayerSeconds dense;
  private final LayerSeconds mixture;
  private final EndsTime ends;
  private final boolean mixtures; // whether layers of multi-token prediction are mixtures, too
  private final boolean sequenceParallel;
  private final double states; // elements of tokens' states on a GPU
  private final double denseSeconds;
  private final double mixtureSeconds;
  private final double denseForward;
  private final double mixtureForward;
  private final double denseBackward;
  private final double mixtureBackward;

  private MicroBatchSeconds(
      TransformerRun run,
      TransformerSizes sizes,
      LayerSeconds dense,
      LayerSeconds mixture,
      EndsTime ends) {
    this.dense = dense;
    this.mixture = mixture;
    this.ends = ends;
    this.mixtures = sizes.hasMixtures();
    this.sequenceParallel = run.layout().sequenceParallel();
    this.states = run.tokens() * sizes.hidden();
    this.denseSeconds = dense.total();
    this.mixtureSeconds = mixture.total();
    this.denseForward = dense.forward().total();
    this.mixtureForward = mixture.forward().total();
    this.denseBackward = dense.backwardTotal();
    this.mixtureBackward = mixture.backwardTotal();
  }

  static MicroBatchSeconds of(
      TransformerRun run, TransformerSizes sizes, StackConstants constants) {
    CollectiveTime collectives = new CollectiveTime(run, constants);
    GemmTime gemm = new GemmTime(run, constants);
    LayerTime layers = new LayerTime(run, sizes, constants, gemm, collectives);
    return new MicroBatchSeconds(
        run,
        sizes,
        sizes.hasDense() ? layers.dense() : LayerSeconds.NONE,
        sizes.hasMixtures() ? layers.mixture() : LayerSeconds.NONE,
        EndsTime.of(run, sizes, constants, gemm, collectives));
  }

  /** Elements of the states that leave a pipeline rank, on one GPU. */
  double states() {
    return states;
  }

  boolean sequenceParallel() {
    return sequenceParallel;
  }

  /** Both passes of a dense layer, with what they recompute; 0 where no layer is dense. */
  double denseSeconds() {
    return denseSeconds;
  }

  /** The same of a mixture of experts. */
  double mixtureSeconds() {
    return mixtureSeconds;
  }

  /** All passes of a rank. */
  double total(StageSplit.Rank rank) {
    return rank.dense() * denseSeconds
        + rank.mixtures() * mixtureSeconds
        + rank.predictions() * (mixtures ? mixtureSeconds : denseSeconds)
        + ends(rank);
  }

  /** Embedding and head, which multi-token prediction uses once more for each depth. */
  double ends(StageSplit.Rank rank) {
    return rank.embeddings() * ends.embedding() + (rank.heads() + rank.predictions()) * ends.head();
  }

  /** The forward pass of all that a chunk holds; a third of its ends, as their products have it. */
  double forwardPass(StageSplit.Rank chunk) {
    return denseLayers(chunk) * denseForward
        + mixtureLayers(chunk) * mixtureForward
        + ends(chunk) / END_PRODUCTS;
  }

  /** Gradients of the weights that a chunk holds: one of the two products of a backward pass. */
  double weightGradients(StageSplit.Rank chunk) {
    return (denseLayers(chunk) * dense.backward().products()
                + mixtureLayers(chunk) * mixture.backward().products())
            / 2
        + ends(chunk) / END_PRODUCTS;
  }

  /** Forward passes of a rank's layers. */
  double forward(StageSplit.Rank rank) {
    return rank.dense() * denseForward + rank.mixtures() * mixtureForward;
  }

  /** Backward passes of a rank's layers and both passes of the ends that it has. */
  double backward(StageSplit.Rank rank) {
    return rank.dense() * denseBackward
        + rank.mixtures() * mixtureBackward
        + (rank.embeddings() * ends.embedding() + rank.heads() * ends.head());
  }

  /** Passes of a rank's layers by part, without what they recompute. */
  PassSeconds passes(StageSplit.Rank rank) {
    return dense
        .forward()
        .plus(dense.backward())
        .times(denseLayers(rank))
        .plus(mixture.forward().plus(mixture.backward()).times(mixtureLayers(rank)));
  }

  /** What the backward passes of a rank's layers recompute. */
  double recomputed(StageSplit.Rank rank) {
    return denseLayers(rank) * dense.recomputed().total()
        + mixtureLayers(rank) * mixture.recomputed().total();
  }

  private double denseLayers(StageSplit.Rank rank) {
    return rank.dense() + (mixtures ? 0 : rank.predictions());
  }

  private double mixtureLayers(StageSplit.Rank rank) {
    return rank.mixtures() + (mixtures ? rank.predictions() : 0);
  }
}

package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.LayerTime.LayerSeconds;

/**
 * Seconds of a transformer's layers for one micro-batch on one GPU, without what tensor-parallel,
 * context-parallel and expert-parallel ranks exchange.
 *
 * @param dense a layer with a perceptron; nothing where no layer has one
 * @param mixture a layer with a mixture of experts; nothing where no layer has one
 * @param embedding the table of words
 * @param head the product with the vocabulary and the loss
 * @param updateSeconds of the optimizer for one parameter
 * @param exposedForward share of tensor-parallel exchanges that computing does not hide
 * @param exposedBackward the same in the backward pass
 */
public record TransformerLayers(
    Passes dense,
    Passes mixture,
    Passes embedding,
    Passes head,
    double updateSeconds,
    double exposedForward,
    double exposedBackward) {
  private static final double EMBEDDING_FORWARD = 8.0 / 22; // of the bytes that both passes move
  private static final double PRODUCTS = 3; // of a pass forward and backward

  /**
   * Seconds of both passes.
   *
   * @param backward without recomputation
   * @param weightGradient the part of it that only the update waits for
   */
  public record Passes(double forward, double backward, double weightGradient) {
    /**
     * Of a layer.
     *
     * @param owners whether ranks have whole experts, and exchange tokens for these
     */
    private static Passes of(LayerSeconds layer, boolean owners) {
      PassSeconds ahead = layer.forward();
      PassSeconds back = layer.backward();
      return new Passes(
          ahead.total() - exchanged(ahead, owners),
          back.total() - exchanged(back, owners),
          (back.products() + back.casts()) / 2);
    }

    private static double exchanged(PassSeconds pass, boolean owners) {
      return pass.tensorParallel() + pass.contextParallel() + (owners ? pass.allToAll() : 0);
    }

    private static Passes of(double both, double forwardShare, double weightShare) {
      return new Passes(forwardShare * both, (1 - forwardShare) * both, weightShare * both);
    }
  }

  /**
   * The layers of a run.
   *
   * @throws IllegalArgumentException for networks that the formulas do not cover
   */
  public static TransformerLayers of(TransformerRun run, CalibratedConstants calibrated) {
    TransformerSizes sizes = TransformerSizes.of(run.shape());
    StackConstants constants = StackConstants.of(calibrated, run);
    CollectiveTime collectives = new CollectiveTime(run, constants);
    GemmTime gemm = new GemmTime(run, constants);
    LayerTime layers = new LayerTime(run, sizes, constants, gemm, collectives);
    EndsTime ends = EndsTime.of(run, sizes, constants, gemm, collectives);
    boolean owners = run.layout().expert() > 1;
    double exchange =
        collectives.allReduce(2 * run.tokens() * sizes.hidden(), run.layout().tensor(), 1);
    return new TransformerLayers(
        Passes.of(sizes.hasDense() ? layers.dense() : LayerSeconds.NONE, owners),
        Passes.of(sizes.hasMixtures() ? layers.mixture() : LayerSeconds.NONE, owners),
        Passes.of(ends.embedding() - exchange, EMBEDDING_FORWARD, 0),
        Passes.of(ends.head() - exchange, 1 / PRODUCTS, 1 / PRODUCTS),
        run.software().framework().optimizerBytes()
            * constants.optimizer()
            / run.machine().memoryBandwidth(),
        1 - constants.hiddenForward(),
        1 - constants.hiddenBackward());
  }
}

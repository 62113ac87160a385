package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.GemmTime.Linear;
import dev.pipewright.predict.transformer.NumberFormats.Products;

/**
 * Seconds of the network's ends for one micro-batch, forward and backward.
 *
 * @param embedding of the table of words
 * @param head of the product with the vocabulary and the loss
 */
record EndsTime(double embedding, double head) {
  private static final double EMBEDDING_BYTES = 22; // of an element, forward 8 and backward 14

  static EndsTime of(
      TransformerRun run,
      TransformerSizes sizes,
      StackConstants constants,
      GemmTime gemm,
      CollectiveTime collectives) {
    double tokens = run.tokens();
    double tensor = run.layout().tensor();
    double bandwidth = run.machine().memoryBandwidth();
    double exchange = collectives.allReduce(2 * tokens * sizes.hidden(), tensor, 1);
    Linear scores =
        gemm.linear(tokens, sizes.hidden(), sizes.vocabulary() / tensor, 1, Products.HALF);
    double loss =
        run.software().framework().lossBytes()
            * tokens
            * sizes.vocabulary()
            / tensor
            * constants.loss()
            / bandwidth;
    return new EndsTime(
        EMBEDDING_BYTES * tokens * sizes.hidden() * constants.elementwise() / bandwidth + exchange,
        (scores.forward() + scores.backward()) * constants.speed() + loss + exchange);
  }
}

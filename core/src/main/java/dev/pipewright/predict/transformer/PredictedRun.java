package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.NumberFormats.Products;

/** A training run with its predicted step. */
public record PredictedRun(TransformerRun run, TransformerPrediction step) {
  private static final double SECONDS_OF_DAY = 86_400;
  private static final double HOURS_OF_DAY = 24;

  /** Predicts a run; throws as {@link TransformerOracle#predict} does. */
  public static PredictedRun of(TransformerRun run, CalibratedConstants constants) {
    return new PredictedRun(run, TransformerOracle.predict(run, constants));
  }

  /** Tokens that all GPUs train on in a second. */
  public double tokensPerSecond() {
    double tokens = (double) run.layout().globalBatch() * run.shape().sequence();
    return tokens / step.iterationSeconds();
  }

  /** The same for each GPU. */
  public double tokensPerSecondAndDevice() {
    return tokensPerSecond() / run.layout().devices();
  }

  /**
   * FLOP/s of the model on each GPU: products of the forward and the backward pass, without
   * recomputation; of attention's scores those that the mask keeps.
   */
  public double flopsPerDevice() {
    return tokensPerSecondAndDevice() * run.shape().flopsPerToken(run.shape().sequence());
  }

  /** Model FLOP utilization: the share of the GPU's dense 16-bit peak, whatever the precision. */
  public double utilization() {
    return flopsPerDevice() / run.machine().flops(Products.HALF);
  }

  /** Days of training on so many tokens. */
  public double days(double tokens) {
    return tokens / tokensPerSecond() / SECONDS_OF_DAY;
  }

  /** Hours of one GPU, over all GPUs, for so many tokens. */
  public double deviceHours(double tokens) {
    return days(tokens) * HOURS_OF_DAY * run.layout().devices();
  }
}

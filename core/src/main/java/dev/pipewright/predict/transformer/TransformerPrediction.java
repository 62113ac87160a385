package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.CalibratedConstants.Coverage;

/**
 * What a training step of a transformer takes.
 *
 * @param phases seconds by phase
 * @param shortestSeconds lower end of the interval that holds 90 % of measured steps
 * @param longestSeconds its upper end
 * @param coverage where the run lies with respect to the calibrated constants
 * @param worst bytes of the rank that holds most
 * @param logged bytes of the last pipeline rank, whose allocator Megatron-LM logs
 * @param fits whether the worst rank fits its device with the context and communication buffers
 * @param tight whether little is left
 */
public record TransformerPrediction(
    TransformerPhases phases,
    double shortestSeconds,
    double longestSeconds,
    Coverage coverage,
    TransformerRankBytes worst,
    TransformerRankBytes logged,
    boolean fits,
    boolean tight) {
  /** Seconds of a step. */
  public double iterationSeconds() {
    return phases.total();
  }
}

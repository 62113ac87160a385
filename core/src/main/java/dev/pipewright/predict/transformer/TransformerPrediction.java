package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.CalibratedConstants.Coverage;
import java.util.List;

/**
 * What a training step of a transformer takes.
 *
 * @param phases seconds by phase
 * @param shortestSeconds lower end of the interval that holds 90 % of measured steps
 * @param longestSeconds its upper end
 * @param coverage where the run lies with respect to the calibrated constants
 * @param ranks bytes of each pipeline rank, the first stage's first
 * @param hostBytes optimizer state and gradients in the host's memory for each GPU of the rank that
 *     has most of them there
 * @param fits whether the worst rank fits its device with the context and communication buffers
 * @param tight whether little is left
 */
public record TransformerPrediction(
    TransformerPhases phases,
    double shortestSeconds,
    double longestSeconds,
    Coverage coverage,
    List<TransformerRankBytes> ranks,
    double hostBytes,
    boolean fits,
    boolean tight) {
  public TransformerPrediction {
    ranks = List.copyOf(ranks);
  }

  /** Seconds of a step. */
  public double iterationSeconds() {
    return phases.total();
  }

  /** Bytes of the rank that holds most. */
  public TransformerRankBytes worst() {
    return ranks.get(worstRank());
  }

  /** The pipeline rank that holds most, from 0. */
  public int worstRank() {
    int worst = 0;
    for (int rank = 1; rank < ranks.size(); rank++) {
      worst = ranks.get(rank).total() > ranks.get(worst).total() ? rank : worst;
    }
    return worst;
  }

  /** Bytes of the last pipeline rank, whose allocator Megatron-LM logs. */
  public TransformerRankBytes logged() {
    return ranks.get(ranks.size() - 1);
  }
}

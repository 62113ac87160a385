package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.Framework.Exchange;

/**
 * Seconds in which data-parallel ranks exchange gradients, and parameters where the optimizer's
 * state is sharded.
 *
 * <p>Sources: S. Rajbhandari et al., <i>ZeRO</i>, arXiv:1910.02054, §7 (volumes); S. Li et al.,
 * <i>PyTorch distributed</i>, VLDB 2020, arXiv:2006.15704 (buckets that overlap).
 */
final class DataParallelTime {
  private static final double HALF = 2; // bytes of an element

  private final TransformerRun run;
  private final TransformerSizes sizes;
  private final StackConstants constants;
  private final CollectiveTime collectives;
  private final RankWeights weights;

  DataParallelTime(
      TransformerRun run,
      TransformerSizes sizes,
      StackConstants constants,
      CollectiveTime collectives,
      RankWeights weights) {
    this.run = run;
    this.sizes = sizes;
    this.constants = constants;
    this.collectives = collectives;
    this.weights = weights;
  }

  /** Seconds of the exchange of a rank's gradients. */
  double exchanged(StageSplit.Rank rank) {
    return afterBackward() ? alone(denseElements(rank)) : bucketed(rank);
  }

  /**
   * The exposed part of an exchange.
   *
   * @param exchanged its seconds
   * @param microBatchSeconds of the slowest rank
   */
  double exposed(double exchanged, double microBatchSeconds) {
    if (afterBackward()) {
      return exchanged;
    }
    TrainingLayout layout = run.layout();
    double chunks = layout.interleave();
    double window =
        constants.gradientWindow()
            * microBatchSeconds
            * (1 + layout.pipeline() * (chunks - 1))
            / chunks;
    return Math.max(exchanged - window, 0) + constants.gradientExposed() * exchanged;
  }

  /**
   * The exposed part of one more reduction of gradients, as ZeRO-2 makes for every micro-batch but
   * the last; 0 where gradients accumulate on their rank.
   *
   * @param exchanged seconds of the last one, with the gathering of parameters
   * @param microBatchSeconds of the slowest rank
   */
  double reduced(double exchanged, double microBatchSeconds) {
    if (!run.layout().shardsGradients()) {
      return 0;
    }
    if (afterBackward()) {
      return exchanged / 2; // of an all-reduce
    }
    double gradient = run.formats().exchangedGradientBytes();
    double seconds = exchanged * gradient / (gradient + HALF); // without the gathering
    return Math.max(seconds - constants.gradientWindow() * microBatchSeconds, 0)
        + constants.gradientExposed() * seconds;
  }

  private boolean afterBackward() {
    return run.layout().zero() != 3
        && run.software().framework().exchange(run.layout()) == Exchange.AFTER_BACKWARD;
  }

  /** Elements of a rank that all its data-parallel ranks share; a tied end counts once. */
  double denseElements(StageSplit.Rank rank) {
    double ends = oneEnd() ? 1 : rank.embeddings() + rank.heads();
    return rank.dense() * weights.dense()
        + rank.mixtures() * weights.mixture()
        + ends * weights.end();
  }

  private boolean oneEnd() {
    return sizes.tied() && run.layout().pipeline() == 1;
  }

  private double alone(double elements) {
    TrainingLayout layout = run.layout();
    int replicas = layout.replicas();
    int domain = run.machine().domain();
    double bytes = run.formats().exchangedGradientBytes() * elements;
    double seconds = 0;
    if (replicas > 1) {
      int members = Math.min(replicas, Math.max(1, domain / layout.tensor()));
      double groups = (double) domain / members; // that share a domain's network
      seconds =
          replicas <= members
              ? collectives.allReduce(bytes, replicas, layout.tensor())
              : 2
                  * bytes
                  * (replicas - 1)
                  / replicas
                  * groups
                  / collectives.networkRate(constants.gradientNetwork());
    }
    if (sizes.tied() && layout.pipeline() > 1) {
      double table = run.formats().exchangedGradientBytes() * weights.end();
      seconds += collectives.allReduce(table, 2, domain);
    }
    return seconds;
  }

  private double bucketed(StageSplit.Rank rank) {
    TrainingLayout layout = run.layout();
    return exchange(denseElements(rank), layout.replicas(), layout.tensor())
        + exchange(
            rank.mixtures() * weights.experts(),
            layout.expertReplicas(),
            (double) layout.expertTensor() * layout.expert());
  }

  /** A reduce-scatter of gradients with an all-gather of parameters, or an all-reduce. */
  private double exchange(double elements, double ranks, double stride) {
    if (elements == 0) {
      return 0;
    }
    double once = collectives.allReduce(HALF * elements, ranks, stride);
    double gradient = run.formats().exchangedGradientBytes();
    return run.layout().zero() > 0 ? 0.5 * (gradient + HALF) / HALF * once : 0.5 * gradient * once;
  }
}

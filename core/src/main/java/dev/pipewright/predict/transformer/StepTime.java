package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.LayerTime.LayerSeconds;
import dev.pipewright.predict.transformer.ShardedTime.MicroBatch;
import java.util.List;

/**
 * Seconds of a training step: the slowest pipeline rank's micro-batches, the pipeline's bubble, and
 * what communication, optimizer and launch add.
 *
 * <p>Source of the bubble of interleaved 1F1B: D. Narayanan et al., SC 2021, arXiv:2104.04473,
 * §2.2.
 */
final class StepTime {
  private static final double OFFLOADED_BYTES = 34; // of a layer's token and feature
  private static final double THERE_AND_BACK = 2;

  private final TransformerRun run;
  private final TransformerSizes sizes;
  private final TrainingLayout layout;
  private final StackConstants constants;
  private final CollectiveTime collectives;
  private final RankWeights weights;
  private final EndsTime ends;
  private final LayerSeconds dense;
  private final LayerSeconds mixture;

  StepTime(TransformerRun run, TransformerSizes sizes, StackConstants constants) {
    this.run = run;
    this.sizes = sizes;
    this.layout = run.layout();
    this.constants = constants;
    this.collectives = new CollectiveTime(run, constants);
    this.weights = RankWeights.of(run, sizes);
    GemmTime gemm = new GemmTime(run, constants);
    this.ends = EndsTime.of(run, sizes, constants, gemm, collectives);
    LayerTime layers = new LayerTime(run, sizes, constants, gemm, collectives);
    this.dense = sizes.hasDense() ? layers.dense() : LayerSeconds.NONE;
    this.mixture = sizes.hasMixtures() ? layers.mixture() : LayerSeconds.NONE;
  }

  TransformerPhases phases() {
    List<StageSplit.Rank> ranks = run.split().ranks(sizes);
    StageSplit.Rank slowest = ranks.get(0);
    double sum = 0;
    for (StageSplit.Rank rank : ranks) {
      sum += microBatch(rank);
      slowest = microBatch(rank) > microBatch(slowest) ? rank : slowest;
    }
    double longest = microBatch(slowest);
    double batches = layout.microBatches();
    double sharding = 0;
    double bubble = 0;
    double transfers = 0;
    double gradients = 0;
    if (run.fullySharded()) {
      double endSeconds = ends.embedding() + ends.head();
      MicroBatch one =
          new ShardedTime(run, constants, collectives)
              .of(slowest, dense, mixture, endSeconds, weights, sizes.tied());
      sharding = batches * one.exposed();
    } else {
      bubble = (sum - longest) / layout.interleave();
      transfers = transfers(batches);
      gradients = gradients(ranks, longest);
    }
    double offload = offload(batches);
    double busy = batches * longest + sharding + bubble + transfers + offload;
    return new TransformerPhases(
        passes(slowest).times(batches),
        batches
            * (slowest.dense() * dense.recomputed().total()
                + mixtures(slowest) * mixture.recomputed().total()
                + (sizes.hasMixtures() ? 0 : slowest.predictions() * dense.recomputed().total())),
        batches * endSeconds(slowest),
        offload,
        bubble,
        transfers,
        sharding,
        gradients,
        optimizer(slowest),
        straggling() * busy,
        constants.fixed());
  }

  /** Seconds of a rank's passes over one micro-batch. */
  private double microBatch(StageSplit.Rank rank) {
    double predictions = sizes.hasMixtures() ? mixture.total() : dense.total();
    return rank.dense() * dense.total()
        + rank.mixtures() * mixture.total()
        + rank.predictions() * predictions
        + endSeconds(rank);
  }

  /** Embedding and head, which multi-token prediction uses once more for each depth. */
  private double endSeconds(StageSplit.Rank rank) {
    return rank.embeddings() * ends.embedding() + (rank.heads() + rank.predictions()) * ends.head();
  }

  private PassSeconds passes(StageSplit.Rank rank) {
    double denseLayers = rank.dense() + (sizes.hasMixtures() ? 0 : rank.predictions());
    return dense
        .forward()
        .plus(dense.backward())
        .times(denseLayers)
        .plus(mixture.forward().plus(mixture.backward()).times(mixtures(rank)));
  }

  private double mixtures(StageSplit.Rank rank) {
    return rank.mixtures() + (sizes.hasMixtures() ? rank.predictions() : 0);
  }

  private double transfers(double batches) {
    if (layout.pipeline() == 1) {
      return 0;
    }
    double once = collectives.transfer(sizes.hidden());
    return 2 * (layout.pipeline() - 1) * once
        + constants.transferExposed() * batches * layout.interleave() * once;
  }

  private double gradients(List<StageSplit.Rank> ranks, double longest) {
    StageSplit.Rank largest = ranks.get(0);
    for (StageSplit.Rank rank : ranks) {
      largest = elements(rank) > elements(largest) ? rank : largest;
    }
    return new DataParallelTime(run, sizes, constants, collectives, weights)
        .exposed(largest, longest);
  }

  private double elements(StageSplit.Rank rank) {
    return rank.dense() * weights.dense()
        + rank.mixtures() * (weights.mixture() + weights.experts())
        + (rank.embeddings() + rank.heads()) * weights.end();
  }

  private double optimizer(StageSplit.Rank rank) {
    double shared =
        new DataParallelTime(run, sizes, constants, collectives, weights).denseElements(rank);
    double own = rank.mixtures() * weights.experts();
    double elements =
        shared / layout.optimizerShards()
            + own / (layout.zero() >= 1 ? layout.expertReplicas() : 1);
    return elements
        * run.software().framework().optimizerBytes()
        * constants.optimizer()
        / run.machine().memoryBandwidth();
  }

  private double offload(double batches) {
    if (run.offload().layers() == 0 || !run.fusedAttention()) {
      return 0;
    }
    double held = (double) sizes.layers() / layout.pipeline();
    double bytes = OFFLOADED_BYTES * run.tokens() * sizes.hidden() / layout.tensor();
    return batches
        * THERE_AND_BACK
        * Math.min(run.offload().layers(), held)
        * bytes
        / run.machine().hostBandwidth()
        * constants.offload();
  }

  private double straggling() {
    double units = (double) layout.devices() / run.machine().stragglerUnit();
    return constants.straggling() * CollectiveTime.log2(Math.max(1, units));
  }
}

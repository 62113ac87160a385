package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.NumberFormats.StateBytes;
import org.jspecify.annotations.Nullable;

/**
 * Seconds of a training step: the slowest pipeline rank's micro-batches, the pipeline's bubble, and
 * what communication, optimizer and launch add. An object holds what the degrees of parallelism and
 * the ZeRO stage determine; micro-batches come as arguments.
 *
 * <p>A host that updates a share of the parameters receives their gradients, reads and writes their
 * state in its memory, and returns weights, one after the other: J. Ren et al.,
 * <i>ZeRO-Offload</i>, USENIX ATC 2021, arXiv:2101.06840, §3 and §4.
 *
 * <p>Source of the bubble of interleaved 1F1B: D. Narayanan et al., SC 2021, arXiv:2104.04473,
 * §2.2.
 */
final class StepTime {
  private static final double OFFLOADED_BYTES = 34; // of a layer's token and feature
  private static final double THERE_AND_BACK = 2;
  private static final double HOST_MEMORY = 25e9; // bytes/s for each of a node's GPUs

  private final TransformerRun run;
  private final TransformerSizes sizes;
  private final TrainingLayout layout;
  private final StackConstants constants;
  private final CollectiveTime collectives;
  private final StageKinds kinds;
  private final DataParallelTime dataParallel;
  private final double exchanged; // seconds of the gradients of the largest rank
  private final double[] optimizer; // seconds by kind of rank
  private final double straggling;
  private final ShardedTime @Nullable [] sharded; // by kind of rank

  StepTime(TransformerRun run, TransformerSizes sizes, StackConstants constants, StageKinds kinds) {
    this.run = run;
    this.sizes = sizes;
    this.layout = run.layout();
    this.constants = constants;
    this.kinds = kinds;
    this.collectives = new CollectiveTime(run, constants);
    RankWeights weights = RankWeights.of(run, sizes);
    this.dataParallel = new DataParallelTime(run, sizes, constants, collectives, weights);
    this.exchanged = dataParallel.exchanged(largest(kinds, weights));
    this.optimizer = new double[kinds.size()];
    for (int kind = 0; kind < kinds.size(); kind++) {
      optimizer[kind] = optimizer(kinds.rank(kind), weights);
    }
    this.straggling = straggling();
    this.sharded = run.fullySharded() ? sharded(weights) : null;
  }

  private ShardedTime[] sharded(RankWeights weights) {
    ShardedTime[] times = new ShardedTime[kinds.size()];
    for (int kind = 0; kind < times.length; kind++) {
      StageSplit.Rank rank = kinds.rank(kind);
      times[kind] = new ShardedTime(run, constants, collectives, weights, sizes.tied(), rank);
    }
    return times;
  }

  /** Sets how so many micro-batches load the pipeline under 1F1B, interleaved or not. */
  void load(MicroBatchSeconds one, int batches, PipelineLoad load) {
    if (sharded == null) {
      load.set(kinds, one, batches);
    } else {
      load.set(kinds, one, batches, sharded);
    }
    load.bubbleOf(layout.interleave());
  }

  /** A step by phase; so many layers of a rank are offloaded. */
  TransformerPhases phases(MicroBatchSeconds one, PipelineLoad load, int offloaded) {
    double batches = load.batches();
    StageSplit.Rank slowest = kinds.rank(load.slowest());
    double offload = offload(one, batches, offloaded);
    return new TransformerPhases(
        one.passes(slowest).times(batches),
        batches * one.recomputed(slowest),
        batches * one.ends(slowest),
        offload,
        load.bubble(),
        transfers(one, batches),
        sharded == null ? 0 : batches * sharded[load.slowest()].exposed(one, batches),
        gradients(load),
        optimizer[load.slowest()],
        straggling * (busy(one, load) + offload),
        constants.fixed());
  }

  /** Seconds in which stragglers may keep others waiting, without offloading. */
  double busy(MicroBatchSeconds one, PipelineLoad load) {
    double batches = load.batches();
    return batches * load.longest() + (load.bubble() + transfers(one, batches));
  }

  /** Exposed exchange of gradients, and the optimizer. */
  double update(PipelineLoad load) {
    return gradients(load) + optimizer[load.slowest()];
  }

  /**
   * Seconds of a step; {@link TransformerPhases#total} but for rounding. Never less for larger
   * arguments, rounding included.
   */
  double total(double busy, double update) {
    return busy + straggling * busy + constants.fixed() + update;
  }

  /** What sharding by layers adds to the passes of a kind of rank, as a factor. */
  double slowdown(MicroBatchSeconds one, int kind) {
    StageSplit.Rank rank = kinds.rank(kind);
    return sharded == null
        ? 1
        : 1 + sharded[kind].exposed(one, layout.microBatches()) / one.total(rank);
  }

  private double transfers(MicroBatchSeconds one, double batches) {
    if (layout.pipeline() == 1) {
      return 0;
    }
    double once = collectives.transfer(one.states(), one.sequenceParallel());
    return 2 * (layout.pipeline() - 1) * once
        + constants.transferExposed() * batches * layout.interleave() * once;
  }

  private double gradients(PipelineLoad load) {
    return sharded == null
        ? dataParallel.exposed(exchanged, load.longest())
            + (load.batches() - 1) * dataParallel.reduced(exchanged, load.longest())
        : 0;
  }

  private static StageSplit.Rank largest(StageKinds kinds, RankWeights weights) {
    StageSplit.Rank largest = kinds.rank(0);
    for (int kind = 1; kind < kinds.size(); kind++) {
      StageSplit.Rank rank = kinds.rank(kind);
      largest = weights.elements(rank) > weights.elements(largest) ? rank : largest;
    }
    return largest;
  }

  private double optimizer(StageSplit.Rank rank, RankWeights weights) {
    double shared = dataParallel.denseElements(rank);
    double own = rank.mixtures() * weights.experts();
    double elements = shared / layout.optimizerShards() + own / layout.expertShards();
    double onHost = run.offload().optimizer();
    double device =
        run.software().framework().optimizerBytes()
            * constants.optimizer()
            / run.machine().memoryBandwidth();
    StateBytes bytes = run.formats().state();
    double moved = (bytes.gradient() + bytes.weight()) / run.machine().hostBandwidth();
    double host = moved + (bytes.gradient() + 2 * bytes.optimizer()) / HOST_MEMORY;
    return elements * ((1 - onHost) * device + onHost * host);
  }

  private double offload(MicroBatchSeconds one, double batches, int layers) {
    return offloadedLayers(layers) * offloadedLayer(one, batches);
  }

  /** Layers that move where so many of each rank may. */
  double offloadedLayers(int layers) {
    return Math.min(layers, (double) sizes.layers() / layout.pipeline());
  }

  /** Exposed seconds in which one layer moves to the host and back. */
  double offloadedLayer(MicroBatchSeconds one, double batches) {
    if (!run.fusedAttention()) {
      return 0;
    }
    double bytes = OFFLOADED_BYTES * one.states() / layout.tensor();
    return batches * THERE_AND_BACK * bytes / run.machine().hostBandwidth() * constants.offload();
  }

  private double straggling() {
    double units = (double) layout.devices() / run.machine().stragglerUnit();
    return constants.straggling() * CollectiveTime.log2(Math.max(1, units));
  }
}

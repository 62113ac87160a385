package dev.pipewright.formats.problem;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.PipelinePlan;

/**
 * Sizes above which an answer would take too long or too much memory: better a sentence at once.
 */
public final class SizeLimits {
  /** Samples of a step: as many micro-batches may be simulated. */
  public static final int SAMPLES = 1 << 20;

  /** Devices that a planner looks at. */
  public static final int DEVICES = 4_096;

  /** Devices that equal pipelines are planned for. */
  public static final int MANY_DEVICES = 16_384;

  /** Their machines. */
  public static final int MANY_MACHINES = 2_048;

  /** Machines that a planner looks at: many of one device are more work than few of many. */
  public static final int MACHINES = 512;

  /** Layers, as in model files. */
  public static final int LAYERS = 100_000;

  /** Layers for searches whose work grows with the square of their number. */
  public static final int SEARCHED_LAYERS = 5_000;

  /** Stages, micro-batches, replicas, or whatever else a flag counts. */
  public static final int COUNT = 1 << 20;

  /** Micro-batches times stages: each takes some hundred bytes while it is simulated. */
  public static final long PASSES = 1 << 19;

  /** The same of what is drawn in reports and traces. */
  public static final long DRAWN = 1 << 18;

  private SizeLimits() {}

  public static void samples(String what, long samples) {
    if (samples > SAMPLES) {
      throw new BadInputException(
          "%s: %d samples per step are more than can be simulated; take at most %d"
              .formatted(what, samples, SAMPLES));
    }
  }

  /** Throws where so many tokens are no sample, or more than a step may have samples. */
  public static void tokens(String what, int tokens) {
    if (tokens < 1 || tokens > COUNT) {
      throw new BadInputException(
          "%s: %d tokens are no sample; give a whole number from 1 to %d"
              .formatted(what, tokens, COUNT));
    }
  }

  public static void layers(String model, int layers) {
    if (layers > LAYERS) {
      throw new BadInputException(
          "%s: has %d layers, more than can be planned; take at most %d"
              .formatted(model, layers, LAYERS));
    }
  }

  public static void searched(String planner, int layers) {
    if (layers > SEARCHED_LAYERS) {
      throw new BadInputException(
          "--planner %s: %d layers are more than it can search; take at most %d by merging layers into blocks, or --planner dapple"
              .formatted(planner, layers, SEARCHED_LAYERS));
    }
  }

  public static void devices(Cluster cluster) {
    devices(cluster, DEVICES, MACHINES);
  }

  /** For a planner that searches little but equal pipelines on many devices. */
  public static void manyDevices(Cluster cluster) {
    devices(cluster, MANY_DEVICES, MANY_MACHINES);
  }

  private static void devices(Cluster cluster, int devices, int machines) {
    if (cluster.size() > devices || cluster.machines() > machines) {
      throw new BadInputException(
          ("%s: %d devices in %d machines are more than can be planned;"
                  + " take at most %d in at most %d")
              .formatted(cluster.name(), cluster.size(), cluster.machines(), devices, machines));
    }
  }

  /** Throws where a report would be too large. */
  public static void drawn(PipelinePlan plan) {
    long passes = (long) plan.stages().size() * plan.microBatches();
    if (passes > DRAWN) {
      throw new BadInputException(
          "--out: %d stages × %d micro-batches are more than a report can show; take at most %d, or leave it out"
              .formatted(plan.stages().size(), plan.microBatches(), DRAWN));
    }
  }

  public static void passes(String what, PipelinePlan plan) {
    samples(what, plan.globalBatch());
    long passes = (long) plan.stages().size() * plan.microBatches();
    if (passes > PASSES) {
      throw new BadInputException(
          "%s: %d stages × %d micro-batches are more than can be simulated; take at most %d"
              .formatted(what, plan.stages().size(), plan.microBatches(), PASSES));
    }
  }
}

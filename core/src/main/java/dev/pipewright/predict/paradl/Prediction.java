package dev.pipewright.predict.paradl;

import dev.pipewright.plan.PipelinePlan;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** What the oracle says of one strategy on one number of devices. */
public sealed interface Prediction {
  Strategy strategy();

  int devices();

  /** Samples of one iteration, over all devices. */
  long globalBatch();

  /** What ends this strategy's scaling, on this or a larger number of devices. */
  List<ScalingLimit> limits();

  /**
   * Seconds and bytes.
   *
   * @param layout how the work is cut
   * @param samplesPerEpoch samples of the data set, where the network has one
   * @param memory of the fullest device
   * @param capacity bytes that its device has
   * @param findings what holds it back, the gravest first
   * @param plan that the strategy is priced as; empty where it has formulas of its own
   */
  record Predicted(
      Layout layout,
      long globalBatch,
      OptionalLong samplesPerEpoch,
      Phases phases,
      MemoryUse memory,
      double capacity,
      List<ScalingLimit> limits,
      List<Finding> findings,
      Optional<PipelinePlan> plan)
      implements Prediction {
    public Predicted {
      limits = List.copyOf(limits);
      findings = List.copyOf(findings);
    }

    @Override
    public Strategy strategy() {
      return layout.strategy();
    }

    @Override
    public int devices() {
      return layout.devices();
    }

    /** Samples that a device computes at once: of its group, a segment of them in a pipeline. */
    public long microBatchPerRank() {
      return Math.ceilDiv(
          Math.ceilDiv(globalBatch, (long) layout.groups()), (long) layout.segments());
    }

    public double iterationSeconds() {
      return phases.total();
    }

    /** The data set divided by the batch, rounded up: a last part of a batch takes as long. */
    public OptionalDouble iterations() {
      return samplesPerEpoch.isPresent()
          ? OptionalDouble.of(Math.ceil((double) samplesPerEpoch.getAsLong() / globalBatch))
          : OptionalDouble.empty();
    }

    /** Empty where the network has no data set of its own. */
    public OptionalDouble epochSeconds() {
      return iterations().isPresent()
          ? OptionalDouble.of(iterations().getAsDouble() * iterationSeconds())
          : OptionalDouble.empty();
    }

    public double samplesPerSecond() {
      return globalBatch / iterationSeconds();
    }

    public boolean fits() {
      return memory.total() <= capacity;
    }
  }

  /** The strategy cannot use so many devices, or cannot cut this network at all. */
  record Impossible(
      Strategy strategy, int devices, long globalBatch, List<ScalingLimit> limits, String why)
      implements Prediction {
    public Impossible {
      limits = List.copyOf(limits);
    }
  }
}

package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What the oracle is asked about, in addition to the strategy, the devices and the batch.
 *
 * @param samplesPerEpoch samples of the data set, where the network has one
 * @param formulas as printed or as corrected
 * @param exchange how gradients are summed
 * @param groupSize devices that share one network in hybrid strategies; a node's otherwise
 * @param segments micro-batches of a pipeline; four for each stage otherwise
 * @param memoryReuse ParaDL's γ, a factor on the memory
 * @param splitLayers for each layer of the network whether a strategy may split it; all that can be
 *     otherwise
 * @param degrees of the strategies that are priced as plans
 */
public record Setting(
    Workload workload,
    OptionalLong samplesPerEpoch,
    Formulas formulas,
    Exchange exchange,
    OptionalInt groupSize,
    OptionalInt segments,
    OptionalDouble memoryReuse,
    Optional<List<Boolean>> splitLayers,
    ParallelDegrees degrees) {

  /** Which formulas answer. */
  public enum Formulas {
    CORRECTED,
    PUBLISHED
  }

  /** How gradients are summed over the devices that hold the same weights. */
  public enum Exchange {
    /** As the cluster's software does ({@link Software#allReduce}). */
    USUAL,
    RING,
    TREE,
    HIERARCHICAL,
    /** The same, through the first device of each group that divides positions. */
    LEADER,
    /** The fastest of all. */
    CHEAPEST
  }

  public Setting {
    splitLayers = splitLayers.map(List::copyOf);
    samplesPerEpoch.ifPresent(n -> Check.that(n >= 1, "an epoch has samples: samples=%d", n));
    groupSize.ifPresent(n -> Check.that(n >= 1, "a group has devices: group=%d", n));
    segments.ifPresent(n -> Check.that(n >= 1, "a batch has segments: segments=%d", n));
    memoryReuse.ifPresent(g -> Check.positive(g, "memory reuse factor"));
    int layers = workload.chain().graph().size();
    splitLayers.ifPresent(switches ->
        Check.that(
            switches.size() == layers,
            "one switch per layer: switches=%d, layers=%d",
            switches.size(),
            layers));
  }

  /** A question whose data set has so many samples. */
  public Setting(
      Workload workload,
      long samplesPerEpoch,
      Formulas formulas,
      Exchange exchange,
      OptionalInt groupSize,
      OptionalInt segments,
      OptionalDouble memoryReuse,
      Optional<List<Boolean>> splitLayers) {
    this(
        workload,
        OptionalLong.of(samplesPerEpoch),
        formulas,
        exchange,
        groupSize,
        segments,
        memoryReuse,
        splitLayers,
        ParallelDegrees.OPEN);
  }

  /** The corrected formulas with everything else as usual. */
  public static Setting of(Workload workload, long samplesPerEpoch) {
    return new Setting(
        workload,
        samplesPerEpoch,
        Formulas.CORRECTED,
        Exchange.USUAL,
        OptionalInt.empty(),
        OptionalInt.empty(),
        OptionalDouble.empty(),
        Optional.empty());
  }

  /** The workload on a machine whose collectives run as asked; the published formulas know none. */
  Workload priced() {
    Software software = workload.cluster().software();
    Software asked =
        switch (exchange) {
          case USUAL, LEADER -> software;
          case RING -> software.with(AllReduceAlgorithm.RING);
          case TREE -> software.with(AllReduceAlgorithm.TREE);
          case HIERARCHICAL -> software.with(AllReduceAlgorithm.HIERARCHICAL);
          case CHEAPEST -> software.with(AllReduceAlgorithm.CHEAPEST);
        };
    return asked.equals(software)
        ? workload
        : new Workload(
            workload.chain(),
            workload.profile(),
            workload.training(),
            workload.cluster().withSoftware(asked));
  }

  /** How gradients are summed that the parts of a group add up to. */
  Reduction reduction() {
    return exchange == Exchange.LEADER ? Reduction.LEADERS : Reduction.HIERARCHICAL;
  }

  /** The same question about another workload of the same network. */
  public Setting on(Workload other) {
    return new Setting(
        other,
        samplesPerEpoch,
        formulas,
        exchange,
        groupSize,
        segments,
        memoryReuse,
        splitLayers,
        degrees);
  }

  /** The same question with other degrees. */
  public Setting with(ParallelDegrees other) {
    return new Setting(
        workload,
        samplesPerEpoch,
        formulas,
        exchange,
        groupSize,
        segments,
        memoryReuse,
        splitLayers,
        other);
  }
}

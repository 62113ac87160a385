package dev.pipewright.execution;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.LinkFit;
import dev.pipewright.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What was measured.
 *
 * @param profile what planners read of it
 * @param overhead what the runtime itself takes for an op; it is not in the layers' times
 * @param batches by size of the micro-batch, ascending
 * @param links by number of workers and operation
 * @param sums what sums of gradients cost in training, where links were measured
 * @param cluster this machine, where links were measured
 * @param peaks the runs that mCAP's metrics follow from
 * @param stolen while all that was measured
 */
public record ProfilingOutcome(
    LayerGraph graph,
    Profile profile,
    Optimizer optimizer,
    Overhead overhead,
    List<BatchFigures> batches,
    List<LinkFigures> links,
    Optional<SumsInTraining> sums,
    Optional<Cluster> cluster,
    List<PeakRun> peaks,
    StealTime stolen) {

  /** Seconds of a stage's op that computes nothing. */
  public record Overhead(
      double forward, double backward, double inputGradient, double weightGradient) {}

  /** The shortest of several times, the middle one and the longest; seconds. */
  public record Spread(double least, double median, double most) {
    /** Of times in any order. */
    public static Spread of(double[] seconds) {
      double[] sorted = seconds.clone();
      Arrays.sort(sorted);
      return new Spread(sorted[0], sorted[sorted.length / 2], sorted[sorted.length - 1]);
    }
  }

  /**
   * A layer, for one micro-batch.
   *
   * @param backward the whole backward pass
   * @param inputGradient its first part, where it comes in two
   * @param weightGradient its second part
   * @param update the optimizer's step
   * @param keptBytes what the backward pass needs, each byte counted with the layer that made it
   * @param outputBytes of its output
   */
  public record LayerFigures(
      Spread forward,
      Spread backward,
      Spread inputGradient,
      Spread weightGradient,
      Spread update,
      long keptBytes,
      long outputBytes,
      long parameterBytes) {}

  /**
   * A size of micro-batch.
   *
   * @param readSeconds what reading the samples takes; counted with the first layer
   * @param lossSeconds what judging the outputs takes; counted with the last layer
   * @param workers that computed at the same time, this one among them
   * @param microBatches of the whole step that was measured on one worker
   * @param ops what its ops took, by which the layers' times are corrected in the profile
   * @param summedSeconds of that step by the sum of all layers, as they were measured
   * @param peakBytes of a worker that trains so; 0 where the system does not say
   */
  public record BatchFigures(
      int samples,
      List<LayerFigures> layers,
      double readSeconds,
      double lossSeconds,
      int workers,
      int microBatches,
      Spread stepSeconds,
      PassSeconds ops,
      double summedSeconds,
      long peakBytes) {
    public BatchFigures {
      layers = List.copyOf(layers);
    }

    /** What a micro-batch keeps in all. */
    public long keptBytes() {
      return layers.stream().mapToLong(LayerFigures::keptBytes).sum();
    }
  }

  /**
   * What a step on one worker consists of.
   *
   * @param forward of a micro-batch behind the first
   * @param backward likewise
   * @param inputGradient likewise, in a step whose backward passes come in two parts
   * @param weightGradient likewise
   * @param rest what the step takes beside these, as often as it has micro-batches, and the update;
   *     negative where the first micro-batch is quicker, as it has no gradients to add to
   */
  public record PassSeconds(
      double forward,
      double backward,
      double inputGradient,
      double weightGradient,
      double update,
      double rest) {}

  /**
   * Steps of replicas that train the network, one micro-batch each.
   *
   * @param samples of each
   * @param alone seconds of a step of workers that sum nothing
   * @param after seconds where gradients are summed when all are there
   * @param beside seconds where they are summed while others are still computed
   */
  public record SumsInTraining(
      int workers, int samples, double alone, double after, double beside) {}

  /**
   * An operation between so many workers.
   *
   * @param operation {@code message}, {@code sum}, {@code broadcast}, {@code gather} or {@code
   *     sum_parts}
   * @param timings as {@code point_to_point} where the constants are of the whole operation
   */
  public record LinkFigures(
      String operation, int workers, List<CollectiveTiming> timings, LinkFit fit) {
    public LinkFigures {
      timings = List.copyOf(timings);
    }
  }

  /** A partition that was run: layers and peak bytes of each worker. */
  public record PeakRun(List<Integer> layers, List<Long> peakBytes) {
    public PeakRun {
      layers = List.copyOf(layers);
      peakBytes = List.copyOf(peakBytes);
    }
  }

  public ProfilingOutcome {
    batches = List.copyOf(batches);
    links = List.copyOf(links);
    peaks = List.copyOf(peaks);
  }
}

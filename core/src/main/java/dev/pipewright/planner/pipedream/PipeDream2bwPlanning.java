package dev.pipewright.planner.pipedream;

import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Remedy;
import dev.pipewright.planner.SteadyPlanning;
import dev.pipewright.units.Bytes;
import java.util.List;
import java.util.Optional;

/**
 * A plan of PipeDream-2BW and why to believe it.
 *
 * @param setting what was asked
 * @param candidates the best of each width, depth, micro-batch and recomputation that fits, fastest
 *     first
 * @param leastPeakBytes of all that was tried, fitting or not: the memory that would do
 * @param singleDeviceSeconds one device doing the whole batch at its best micro-batch
 * @param complete whether nothing was left out of the search
 */
public record PipeDream2bwPlanning(
    PipeDream2bwSetting setting,
    List<Candidate> candidates,
    double leastPeakBytes,
    double singleDeviceSeconds,
    LowerBound lowerBound,
    boolean complete)
    implements SteadyPlanning {
  public PipeDream2bwPlanning {
    candidates = List.copyOf(candidates);
  }

  /**
   * One configuration with its best cuts.
   *
   * @param width copies of the pipeline
   * @param microBatch samples of a micro-batch of one copy
   * @param microBatches of one copy for each update, as many as stages or more
   * @param recompute whether stages keep only their input for each micro-batch in flight
   * @param seconds of an update in the steady state: {@code microBatches} times the slowest stage
   * @param binding what the slowest stage spends it on, in words with numbers
   */
  public record Candidate(
      int width,
      int microBatch,
      int microBatches,
      boolean recompute,
      double seconds,
      List<Stage> stages,
      String binding) {
    public Candidate {
      stages = List.copyOf(stages);
    }

    /** Stages of the pipeline. */
    public int depth() {
      return stages.size();
    }

    /** The plan that runs. */
    public AsynchronousPlan plan() {
      Recompute all = recompute ? Recompute.STAGE_INPUT : Recompute.NONE;
      List<StagePlan> running =
          stages.stream()
              .map(stage ->
                  new StagePlan(
                      stage.firstLayer(),
                      stage.lastLayer(),
                      stage.devices(),
                      all,
                      stage.inFlight()))
              .toList();
      return new AsynchronousPlan(Rule.TWO_BUFFERS, microBatches, microBatch, width, running);
    }

    /** Of the device that holds most. */
    public double peakBytes() {
      return stages.stream().mapToDouble(Stage::memoryBytes).max().orElse(0);
    }
  }

  /**
   * A stage of each copy of the pipeline.
   *
   * @param firstLayer its first position in the chain
   * @param lastLayer its last position, inclusive
   * @param devices one for each copy
   * @param computeSeconds of a micro-batch, recomputation included
   * @param transferSeconds of a micro-batch: its input and the gradient of its output, which come
   *     in
   * @param exchangeSeconds of an update: summing gradients over the copies
   * @param inFlight micro-batches that it holds
   */
  public record Stage(
      int firstLayer,
      int lastLayer,
      List<Integer> devices,
      double computeSeconds,
      double transferSeconds,
      double exchangeSeconds,
      double memoryBytes,
      int inFlight) {
    public Stage {
      devices = List.copyOf(devices);
    }
  }

  /** The fastest; empty when nothing fits. */
  public Optional<Candidate> best() {
    return candidates.stream().findFirst();
  }

  /** The second fastest, where there is one. */
  public Optional<Candidate> runnerUp() {
    return candidates.stream().skip(1).findFirst();
  }

  /** Of an update. */
  @Override
  public double seconds() {
    return best().map(Candidate::seconds).orElse(Double.POSITIVE_INFINITY);
  }

  @Override
  public Optional<String> remedy() {
    return best().isPresent() ? Optional.empty() : Optional.of(whyNone());
  }

  private String whyNone() {
    if (!complete) {
      return "nothing was found before the search was ended; give it more time";
    }
    if (leastPeakBytes < Double.POSITIVE_INFINITY) {
      return "the devices have %s each; %s on each of the %d would do"
          .formatted(
              Bytes.of(setting.memoryBytes()), Remedy.roundedUp(leastPeakBytes), setting.devices());
    }
    return setting.stages().isPresent()
        ? "no pipeline of %d stages has a layer on one path and a micro-batch for each of them out of %d samples; take a larger global batch, or fewer stages"
            .formatted(setting.stages().getAsInt(), setting.globalBatch())
        : "no pipelines use all %d devices with a micro-batch for each stage out of %d samples; take a larger global batch that %d divides"
            .formatted(setting.devices(), setting.globalBatch(), setting.devices());
  }
}

package dev.pipewright.planner.pipedream;

import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.SteadyPlanning;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;

/**
 * A plan of PipeDream's optimizer and why to believe it.
 *
 * @param chargesTransfers whether activations that cross a cut cost time
 * @param seconds per mini-batch in the steady state, the objective
 * @param stages in order
 * @param states places where the network can be cut, its end included
 * @param inFlight mini-batches under way at once: NOAM (SOSP 2019, §3.2)
 * @param singleDeviceSeconds one device doing everything
 * @param dataParallelSeconds all devices doing the same
 * @param lowerBound no plan takes less
 * @param bottleneck what keeps the plan from being faster
 * @param runnerUp the best plan whose last stage has other devices, where there is one
 * @param complete whether nothing was left out of the search
 */
public record PipeDreamPlanning(
    boolean chargesTransfers,
    double seconds,
    List<Stage> stages,
    int states,
    int inFlight,
    double singleDeviceSeconds,
    double dataParallelSeconds,
    LowerBound lowerBound,
    PipeDreamBottleneck bottleneck,
    Optional<RunnerUp> runnerUp,
    boolean complete)
    implements SteadyPlanning {
  public PipeDreamPlanning {
    stages = List.copyOf(stages);
    Check.that(!stages.isEmpty(), "a plan has stages: stages=%d", stages.size());
  }

  /**
   * Layers that devices share by taking whole mini-batches in turn.
   *
   * @param firstLayer its first position in the chain
   * @param lastLayer its last position, inclusive
   * @param replicas by level, innermost first; their product is the number of devices
   * @param devices numbered machine by machine
   * @param computeSeconds forward and backward of a mini-batch on one device
   * @param seconds per mini-batch: computing and summing gradients, over all devices
   * @param inFlight mini-batches that each device has under way at once
   */
  public record Stage(
      int firstLayer,
      int lastLayer,
      List<Integer> replicas,
      List<Integer> devices,
      double computeSeconds,
      double seconds,
      int inFlight) {
    public Stage {
      replicas = List.copyOf(replicas);
      devices = List.copyOf(devices);
    }
  }

  /**
   * The best plan of another form.
   *
   * @param lastStageDevices of the last stage of the outermost level
   */
  public record RunnerUp(int lastStageDevices, double seconds) {}

  /** The bottleneck in words with numbers. */
  public String binding() {
    return bottleneck.toString();
  }

  /** Devices of all stages. */
  public int devices() {
    return stages.stream().mapToInt(stage -> stage.devices().size()).sum();
  }

  /** Against one device doing everything. */
  public double speedup() {
    return singleDeviceSeconds / seconds;
  }

  /** How much longer the plan may take than the best, as a share: 0 where the search was exact. */
  @Override
  public double gap() {
    return complete ? 0 : lowerBound.gap(seconds);
  }

  /** It knows no memory, so it always finds a plan. */
  @Override
  public Optional<String> remedy() {
    return Optional.empty();
  }

  /**
   * The plan that runs.
   *
   * @param batch samples of a mini-batch
   */
  public AsynchronousPlan plan(int batch) {
    List<StagePlan> kept =
        stages.stream()
            .map(stage ->
                new StagePlan(
                    stage.firstLayer(),
                    stage.lastLayer(),
                    stage.devices(),
                    Recompute.NONE,
                    stage.inFlight()))
            .toList();
    return new AsynchronousPlan(Rule.PIPEDREAM, inFlight, batch, 1, kept);
  }
}

package dev.pipewright.api;

import dev.pipewright.sim.Run;
import java.util.Arrays;
import java.util.List;

/**
 * A simulated step of a schedule.
 *
 * @param run when each op starts and ends, in the unit of the {@link PassTimes}
 * @param chunks stages of each rank
 */
public record SimulatedSchedule(Run run, int chunks) {
  /** Time from the first op to the end of the last. */
  public double makespan() {
    return run.makespan();
  }

  /** Share of the step in which a rank does not compute, on average over the ranks. */
  public double idleShare() {
    return run.idleShare();
  }

  /**
   * The most activations that each rank holds at once, in activations of one micro-batch of all its
   * stages.
   */
  public List<Double> peakActivations() {
    return Arrays.stream(run.peakActivations()).mapToObj(peak -> (double) peak / chunks).toList();
  }
}

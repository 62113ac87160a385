package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;

/**
 * When everything of a schedule happened, in seconds from its start. Both simulators give it, so
 * whatever is read off it holds for both.
 */
public final class Run {
  private final Schedule schedule;
  private final double[][] starts; // by rank and position in its program
  private final double[][] ends;
  private final double[] activationAt; // by stage and micro-batch: when its inputs were there
  private final double[] gradientAt;
  private final double makespan;

  /** The arrays become the run's own. */
  Run(
      Schedule schedule,
      double[][] starts,
      double[][] ends,
      double[] activationAt,
      double[] gradientAt) {
    this.schedule = schedule;
    this.starts = starts;
    this.ends = ends;
    this.activationAt = activationAt;
    this.gradientAt = gradientAt;
    double last = 0;
    for (double[] rank : ends) {
      for (double end : rank) {
        last = Math.max(last, end);
      }
    }
    makespan = last;
  }

  public Schedule schedule() {
    return schedule;
  }

  /** When the op at {@code position} of a rank's program starts. */
  public double start(int rank, int position) {
    return starts[rank][position];
  }

  public double end(int rank, int position) {
    return ends[rank][position];
  }

  /** When a stage has the output of the stage before for a micro-batch. */
  public double activationAt(int stage, int microBatch) {
    return activationAt[stage * schedule.microBatches() + microBatch];
  }

  /** When a stage has the gradient of its output for a micro-batch. */
  public double gradientAt(int stage, int microBatch) {
    return gradientAt[stage * schedule.microBatches() + microBatch];
  }

  /** When the last op ends. */
  public double makespan() {
    return makespan;
  }

  /** Seconds that a rank computes; ops that run together count once, exchanges do not. */
  public double busy(int rank) {
    double busy = 0;
    long[] program = schedule.packed(rank);
    for (int i = 0; i < program.length; i++) {
      boolean again = i > 0 && Schedule.isJoined(program[i - 1]);
      if (!again && !Schedule.pass(program[i]).exchanges()) {
        busy += ends[rank][i] - starts[rank][i];
      }
    }
    return busy;
  }

  private double meanBusy() {
    double sum = 0;
    for (int rank = 0; rank < starts.length; rank++) {
      sum += busy(rank);
    }
    return sum / starts.length;
  }

  /** The part of the makespan that a rank is idle, on average. */
  public double idleShare() {
    return makespan == 0 ? 0 : 1 - meanBusy() / makespan;
  }

  /**
   * The part of the longest span from a rank's first op to its last in which the busiest rank is
   * idle: what the zero-bubble papers call the bubble rate, since the next step may fill the rest.
   */
  public double spanIdleShare() {
    double longest = 0;
    double busiest = 0;
    for (int rank = 0; rank < starts.length; rank++) {
      int ops = starts[rank].length;
      if (ops > 0) {
        longest = Math.max(longest, ends[rank][ops - 1] - starts[rank][0]);
        busiest = Math.max(busiest, busy(rank));
      }
    }
    return longest == 0 ? 0 : 1 - busiest / longest;
  }

  /**
   * The most activations of a stage and micro-batch that each rank holds at once: from the forward
   * pass until the weights' gradient, or the whole backward pass.
   */
  public int[] peakActivations() {
    int[] peaks = new int[starts.length];
    for (int rank = 0; rank < peaks.length; rank++) {
      int held = 0;
      for (long op : schedule.packed(rank)) {
        Pass pass = Schedule.pass(op);
        held += pass == Pass.FORWARD ? 1 : 0;
        peaks[rank] = Math.max(peaks[rank], held);
        held -= pass.releases() ? 1 : 0;
      }
    }
    return peaks;
  }
}

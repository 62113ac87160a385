package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.BitSet;

/**
 * When everything of a schedule happened, in seconds from its start. Both simulators give it, so
 * whatever is read off it holds for both.
 */
public final class Run {
  private final Schedule schedule;
  private final double[][] starts; // by rank and position in its program
  private final double[][] ends;
  private final double[][] stretched; // likewise; none where no op is
  private final Inputs inputs;
  private final int[] before; // activations that a rank holds when it begins
  private final double makespan;

  /** The arrays become the run's own. */
  Run(Schedule schedule, double[][] starts, double[][] ends, Inputs inputs) {
    this(schedule, starts, ends, new double[0][], inputs);
  }

  /** The same of ops that may have taken longer than undisturbed. */
  Run(Schedule schedule, double[][] starts, double[][] ends, double[][] stretched, Inputs inputs) {
    this(schedule, starts, ends, stretched, inputs, new int[schedule.ranks()]);
  }

  private Run(
      Schedule schedule,
      double[][] starts,
      double[][] ends,
      double[][] stretched,
      Inputs inputs,
      int[] before) {
    this.before = before;
    this.schedule = schedule;
    this.starts = starts;
    this.ends = ends;
    this.stretched = stretched;
    this.inputs = inputs;
    double last = 0;
    for (double[] rank : ends) {
      for (double end : rank) {
        last = Math.max(last, end);
      }
    }
    makespan = last;
  }

  /**
   * What happened outside a simulator. An input counts as there when the op that takes it starts.
   *
   * @param starts by rank and position in its program
   * @param ends likewise
   */
  public static Run recorded(Schedule schedule, double[][] starts, double[][] ends) {
    return recorded(schedule, starts, ends, new int[schedule.ranks()]);
  }

  /**
   * The same of ops in the middle of others.
   *
   * @param before activations of a stage and micro-batch that each rank holds when they begin
   */
  public static Run recorded(Schedule schedule, double[][] starts, double[][] ends, int... before) {
    Inputs inputs = new Inputs(schedule);
    for (int rank = 0; rank < starts.length; rank++) {
      long[] program = schedule.packed(rank);
      Check.that(
          starts[rank].length == program.length && ends[rank].length == program.length,
          "every op has a start and an end: rank=%d, ops=%d, starts=%d, ends=%d",
          rank,
          program.length,
          starts[rank].length,
          ends[rank].length);
      for (int i = 0; i < program.length; i++) {
        int input = inputs.of(program[i]);
        if (input != Inputs.NONE) {
          inputs.arrive(input, starts[rank][i]);
        }
      }
    }
    return new Run(schedule, starts, ends, new double[0][], inputs, before);
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
    return inputs.at(inputs.activation(stage, microBatch));
  }

  /** When a stage has the gradient of its output for a micro-batch. */
  public double gradientAt(int stage, int microBatch) {
    return inputs.at(inputs.gradient(stage, microBatch));
  }

  /** When the last op ends. */
  public double makespan() {
    return makespan;
  }

  /**
   * Seconds by which an op took longer than it does undisturbed, since its rank communicated
   * meanwhile; of ops that run together, all of them.
   */
  public double stretched(int rank, int position) {
    return stretched.length == 0 ? 0 : stretched[rank][position];
  }

  /**
   * Seconds of work that a rank does: what its ops take undisturbed. Ops that run together count
   * once, exchanges do not.
   */
  public double busy(int rank) {
    double busy = 0;
    for (int i = 0; i < starts[rank].length; i++) {
      if (counts(rank, i)) {
        busy += ends[rank][i] - starts[rank][i] - stretched(rank, i);
      }
    }
    return busy;
  }

  /** Whether an op computes and is the first of those that run together with it. */
  boolean counts(int rank, int position) {
    long[] program = schedule.packed(rank);
    boolean again = position > 0 && Schedule.isJoined(program[position - 1]);
    return !again && !Schedule.pass(program[position]).exchanges();
  }

  private double meanBusy() {
    double sum = 0;
    for (int rank = 0; rank < starts.length; rank++) {
      sum += busy(rank);
    }
    return sum / starts.length;
  }

  /**
   * The part of the makespan for which a rank has no work, on average: it waits, or communication
   * stretches what it computes.
   */
  public double idleShare() {
    return makespan == 0 ? 0 : 1 - meanBusy() / makespan;
  }

  /** Seconds by which communication stretches what a rank computes. */
  public double stretched(int rank) {
    double sum = 0;
    for (int i = 0; i < starts[rank].length; i++) {
      sum += counts(rank, i) ? stretched(rank, i) : 0;
    }
    return sum;
  }

  /** The part of the makespan that this is, on average; the idle share contains it. */
  public double stretchedShare() {
    double sum = 0;
    for (int rank = 0; rank < starts.length; rank++) {
      sum += stretched(rank);
    }
    return makespan == 0 ? 0 : sum / starts.length / makespan;
  }

  /** The time from a rank's first op to its last; 0 where it has none. */
  public double span(int rank) {
    int ops = starts[rank].length;
    return ops == 0 ? 0 : ends[rank][ops - 1] - starts[rank][0];
  }

  /** The longest time from a rank's first op to its last. */
  public double longestSpan() {
    double longest = 0;
    for (int rank = 0; rank < starts.length; rank++) {
      longest = Math.max(longest, span(rank));
    }
    return longest;
  }

  /**
   * The part of the longest span from a rank's first op to its last in which the busiest rank is
   * idle: what the zero-bubble papers call the bubble rate, since the next step may fill the rest.
   */
  public double spanIdleShare() {
    double busiest = 0;
    for (int rank = 0; rank < starts.length; rank++) {
      busiest = Math.max(busiest, busy(rank));
    }
    double longest = longestSpan();
    return longest == 0 ? 0 : 1 - busiest / longest;
  }

  /** Activations of a stage and micro-batch that a rank holds before its first op. */
  public int heldBefore(int rank) {
    return before[rank];
  }

  /**
   * The most activations of a stage and micro-batch that each rank holds at once: from the forward
   * pass until the weights' gradient, or the whole backward pass.
   */
  public int[] peakActivations() {
    int[] peaks = new int[starts.length];
    for (int rank = 0; rank < peaks.length; rank++) {
      int held = before[rank];
      for (long op : schedule.packed(rank)) {
        Pass pass = Schedule.pass(op);
        held += pass == Pass.FORWARD ? 1 : 0;
        peaks[rank] = Math.max(peaks[rank], held);
        held -= pass.releases() ? 1 : 0;
      }
    }
    return peaks;
  }

  /**
   * The same where micro-batches are recomputed: from its forward pass until its recomputation such
   * a one holds only its input.
   *
   * @param input the part of a stage's activation that is its input, 0 to 1
   */
  public double[] peakActivations(double input) {
    Check.that(0 <= input && input <= 1, "an input is a part of all: input=%s", input);
    double[] peaks = new double[starts.length];
    for (int rank = 0; rank < peaks.length; rank++) {
      BitSet recomputed = recomputed(rank);
      int whole = 0;
      int inputs = 0;
      for (long op : schedule.packed(rank)) {
        Pass pass = Schedule.pass(op);
        if (pass == Pass.FORWARD && recomputed.get(place(op))) {
          inputs++;
        } else if (pass == Pass.FORWARD || pass == Pass.RECOMPUTE) {
          whole++;
          inputs -= pass == Pass.RECOMPUTE ? 1 : 0;
        }
        peaks[rank] = Math.max(peaks[rank], whole + input * inputs);
        whole -= pass.releases() ? 1 : 0;
      }
    }
    return peaks;
  }

  /** Stages and micro-batches that a rank recomputes. */
  private BitSet recomputed(int rank) {
    BitSet recomputed = new BitSet();
    for (long op : schedule.packed(rank)) {
      if (Schedule.pass(op) == Pass.RECOMPUTE) {
        recomputed.set(place(op));
      }
    }
    return recomputed;
  }

  private int place(long op) {
    return Schedule.stage(op) * schedule.microBatches() + Schedule.microBatch(op);
  }
}

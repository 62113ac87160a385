package dev.pipewright.sim;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * When every op of a schedule starts and ends, each rank running its program in order: a longest
 * path, found in one pass. Ops that run together start together.
 *
 * <p>O(ops); a rank that has to wait is put aside until what it waits for is done.
 */
public final class StaticSimulator {
  private final Schedule schedule;
  private final double[][] starts; // by rank and position in its program
  private final double[][] ends;

  private final OpTimes times;
  private final Placement placement;
  private final double[] forwardDone; // by stage and micro-batch; NaN until then
  private final double[] backwardDone;
  private final int[] next; // by rank
  private final double[] free; // by rank
  private final int[] waiting; // ranks that may move, a stack
  private final boolean[] listed;
  private int count;

  private StaticSimulator(Schedule schedule, OpTimes times) {
    this.schedule = schedule;
    this.times = times;
    this.placement = schedule.placement();
    int ranks = schedule.ranks();
    starts = new double[ranks][];
    ends = new double[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[schedule.packed(rank).length];
    }
    int places = Math.multiplyExact(schedule.stages(), schedule.microBatches());
    forwardDone = new double[places];
    backwardDone = new double[places];
    Arrays.fill(forwardDone, Double.NaN);
    Arrays.fill(backwardDone, Double.NaN);
    next = new int[ranks];
    free = new double[ranks];
    waiting = new int[ranks];
    listed = new boolean[ranks];
  }

  /**
   * Runs a schedule that {@code Validator} finds no fault with; throws where ranks wait for ever.
   */
  public static Run run(Schedule schedule, OpTimes times) {
    Check.that(
        times.forward().length == schedule.stages(),
        "one time per stage: times=%d, stages=%d",
        times.forward().length,
        schedule.stages());
    StaticSimulator run = new StaticSimulator(schedule, times);
    return run.run();
  }

  private Run run() {
    for (int rank = next.length - 1; rank >= 0; rank--) {
      list(rank);
    }
    while (count > 0) {
      int rank = waiting[--count];
      listed[rank] = false;
      advance(rank);
    }
    for (int rank = 0; rank < next.length; rank++) {
      Check.that(
          next[rank] == schedule.packed(rank).length,
          "a rank waits for ever: schedule=%s, rank=%d, op=%d",
          schedule.name(),
          rank,
          next[rank]);
    }
    return new Run(schedule, starts, ends, forwardDone, backwardDone);
  }

  private void list(int rank) {
    if (!listed[rank]) {
      listed[rank] = true;
      waiting[count++] = rank;
    }
  }

  private void advance(int rank) {
    long[] program = schedule.packed(rank);
    while (next[rank] < program.length) {
      int first = next[rank];
      int last = first;
      double start = free[rank];
      double duration = 0;
      while (true) {
        double ready = ready(rank, program[last]);
        if (Double.isNaN(ready)) {
          return;
        }
        start = Math.max(start, ready);
        double seconds = times.seconds(program[last]);
        duration = times.overlapped() ? Math.max(duration, seconds) : duration + seconds;
        if (last == program.length - 1 || !Schedule.isJoined(program[last])) {
          break;
        }
        last++;
      }
      for (int i = first; i <= last; i++) {
        starts[rank][i] = start;
        ends[rank][i] = start + duration;
        announce(rank, program[i], start + duration);
      }
      free[rank] = start + duration;
      next[rank] = last + 1;
    }
  }

  private int place(int stage, int microBatch) {
    return stage * schedule.microBatches() + microBatch;
  }

  /** When an op's inputs are there; NaN as long as nobody knows. */
  private double ready(int rank, long op) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    return switch (Schedule.pass(op)) {
      case FORWARD ->
          placement.first(stage)
              ? 0
              : arrival(forwardDone, stage - 1, rank, microBatch, times.there()[stage - 1]);
      case BACKWARD, BACKWARD_INPUT -> {
        double own = forwardDone[place(stage, microBatch)];
        yield placement.last(stage)
            ? own
            : Math.max(
                own, arrival(backwardDone, stage + 1, rank, microBatch, times.back()[stage]));
      }
      case BACKWARD_WEIGHT -> backwardDone[place(stage, microBatch)];
      case RECOMPUTE -> forwardDone[place(stage, microBatch)];
      case UPDATE, REDUCE, GATHER, HAND_ON -> 0;
    };
  }

  private double arrival(double[] done, int stage, int rank, int microBatch, double transfer) {
    double at = done[place(stage, microBatch)];
    return placement.rankOf(stage) == rank ? at : at + transfer;
  }

  private void announce(int rank, long op, double end) {
    int stage = Schedule.stage(op);
    int place = place(stage, Schedule.microBatch(op));
    Op.Pass pass = Schedule.pass(op);
    if (pass == Op.Pass.FORWARD) {
      forwardDone[place] = end;
      if (!placement.last(stage)) {
        wake(rank, placement.rankOf(stage + 1));
      }
    } else if (pass.propagates()) {
      backwardDone[place] = end;
      if (!placement.first(stage)) {
        wake(rank, placement.rankOf(stage - 1));
      }
    }
  }

  private void wake(int rank, int other) {
    if (rank != other) {
      list(other);
    }
  }
}

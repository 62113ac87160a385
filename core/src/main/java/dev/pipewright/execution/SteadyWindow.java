package dev.pipewright.execution;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncSteps;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.Arrays;

/** A single step in the middle of an asynchronous run, as each rank runs it. */
public final class SteadyWindow {
  private final Schedule schedule; // of the step's ops alone
  private final int[] first; // positions in the programs of all steps, by rank
  private final int[] held; // activations before it, by rank

  /**
   * @param all the steps that flow
   * @param step one of them, counted from 0
   */
  public SteadyWindow(Assignment all, int step) {
    Schedule whole = all.schedule();
    long[][] programs = new long[whole.ranks()][];
    this.first = new int[programs.length];
    this.held = new int[programs.length];
    for (int rank = 0; rank < programs.length; rank++) {
      int[] ends = AsyncSteps.ends(all, rank);
      first[rank] = step == 0 ? 0 : ends[step - 1];
      held[rank] = held(whole.packed(rank), first[rank]);
      programs[rank] = Arrays.copyOfRange(whole.packed(rank), first[rank], ends[step]);
    }
    this.schedule = new Schedule(whole.name(), whole.placement(), whole.microBatches(), programs);
  }

  /** What a program holds behind its first ops. */
  private static int held(long[] program, int ops) {
    int held = 0;
    for (long op : Arrays.copyOf(program, ops)) {
      Pass pass = Schedule.pass(op);
      held += pass == Pass.FORWARD ? 1 : 0;
      held -= pass.releases() ? 1 : 0;
    }
    return held;
  }

  Schedule schedule() {
    return schedule;
  }

  /** Activations of a stage and micro-batch that each rank holds before it. */
  int[] held() {
    return held.clone();
  }

  /** What a run of all steps has of it, from its first op on. */
  public Run of(Run all) {
    double[][] starts = new double[first.length][];
    double[][] ends = new double[first.length][];
    double begin = Double.POSITIVE_INFINITY;
    for (int rank = 0; rank < first.length; rank++) {
      int ops = schedule.packed(rank).length;
      starts[rank] = new double[ops];
      ends[rank] = new double[ops];
      for (int i = 0; i < ops; i++) {
        starts[rank][i] = all.start(rank, first[rank] + i);
        ends[rank][i] = all.end(rank, first[rank] + i);
        begin = Math.min(begin, starts[rank][i]);
      }
    }
    MeasuredRun.shift(starts, begin);
    MeasuredRun.shift(ends, begin);
    return Run.recorded(schedule, starts, ends, held);
  }
}

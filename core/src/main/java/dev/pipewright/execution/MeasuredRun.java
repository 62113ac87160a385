package dev.pipewright.execution;

import dev.pipewright.plan.Assignment;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.sim.Run;

/**
 * A recorded step as a run of ranks, for the pictures and figures of simulated ones. Workers of a
 * rank run in step: an op starts and ends when it does on average. Time begins with the first op.
 *
 * <p>Of the step's end a worker says when all gradients were there and when the update was over: a
 * sum of gradients lasts from the stage's last backward pass to the one, and its updates share the
 * time to the other equally.
 */
public final class MeasuredRun {
  private final Schedule schedule; // with its step's end
  private final double[][] starts;
  private final double[][] ends;

  private MeasuredRun(Schedule schedule) {
    this.schedule = schedule;
    this.starts = new double[schedule.ranks()][];
    this.ends = new double[schedule.ranks()][];
  }

  public static Run of(Assignment assignment, RecordedStep step) {
    MeasuredRun run = new MeasuredRun(StepEnd.of(assignment.schedule()));
    double begin = Double.POSITIVE_INFINITY;
    for (int rank = 0; rank < run.starts.length; rank++) {
      int first = assignment.firstWorker(rank);
      int workers = assignment.workers().get(rank);
      double[] started = mean(step.started(), first, workers);
      double[] ended = mean(step.ended(), first, workers);
      double summed = mean(step.updateStarted(), first, workers);
      double updated = mean(step.updateEnded(), first, workers);
      run.place(rank, started, ended, summed, updated);
      begin = Math.min(begin, started.length == 0 ? summed : started[0]);
    }
    shift(run.starts, begin);
    shift(run.ends, begin);
    return Run.recorded(run.schedule, run.starts, run.ends);
  }

  /**
   * A step that flows into others, where nothing happens behind its ops.
   *
   * @param all the steps that flow
   */
  public static Run ofFlow(Assignment all, RecordedStep step) {
    SteadyWindow window = new SteadyWindow(all, Math.toIntExact(step.step()));
    MeasuredRun run = new MeasuredRun(window.schedule());
    double begin = Double.POSITIVE_INFINITY;
    for (int rank = 0; rank < run.starts.length; rank++) {
      int first = all.firstWorker(rank);
      run.starts[rank] = mean(step.started(), first, all.workers().get(rank));
      run.ends[rank] = mean(step.ended(), first, all.workers().get(rank));
      for (double start : run.starts[rank]) {
        begin = Math.min(begin, start);
      }
    }
    shift(run.starts, begin);
    shift(run.ends, begin);
    return Run.recorded(run.schedule, run.starts, run.ends, window.held());
  }

  private static double[] mean(double[][] times, int first, int workers) {
    double[] mean = new double[times[first].length];
    for (int worker = first; worker < first + workers; worker++) {
      for (int i = 0; i < mean.length; i++) {
        mean[i] += times[worker][i] / workers;
      }
    }
    return mean;
  }

  private static double mean(double[] times, int first, int workers) {
    double sum = 0;
    for (int worker = first; worker < first + workers; worker++) {
      sum += times[worker];
    }
    return sum / workers;
  }

  private void place(int rank, double[] started, double[] ended, double summed, double updated) {
    long[] program = schedule.packed(rank);
    starts[rank] = new double[program.length];
    ends[rank] = new double[program.length];
    int updates = 0;
    for (long op : program) {
      updates += Schedule.pass(op) == Pass.UPDATE ? 1 : 0;
    }
    int next = 0; // of what was recorded
    int update = 0;
    for (int i = 0; i < program.length; i++) {
      switch (Schedule.pass(program[i])) {
        case REDUCE -> {
          starts[rank][i] = ended[next - 1];
          ends[rank][i] = Math.max(ended[next - 1], summed);
        }
        case UPDATE -> {
          starts[rank][i] = summed + (updated - summed) * update / updates;
          update++;
          ends[rank][i] = summed + (updated - summed) * update / updates;
        }
        default -> {
          starts[rank][i] = started[next];
          ends[rank][i] = ended[next];
          next++;
        }
      }
    }
  }

  static void shift(double[][] times, double begin) {
    for (double[] rank : times) {
      for (int i = 0; i < rank.length; i++) {
        rank[i] -= begin;
      }
    }
  }
}

package dev.pipewright.sim.repeated;

import dev.pipewright.units.Check;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The first rounds of work that repeats: every rank does its tasks in the order in which they are
 * listed, one at a time, round after round, each as soon as it may.
 *
 * <p>O(rounds · tasks) steps, those of what tasks wait for included.
 */
public final class RepeatedRun {
  private final List<Task> tasks;
  private final int batches; // of a round
  private final int rounds;
  private final int early; // rounds before the one whose shifts count from 0
  private final double[][] ends; // by task and round; not a number where there is no such batch
  private final List<List<Integer>> programs = new ArrayList<>(); // tasks of each rank

  private RepeatedRun(List<Task> tasks, int ranks, int batches, int rounds) {
    this.tasks = tasks;
    this.batches = batches;
    this.rounds = rounds;
    int highest = tasks.stream().mapToInt(Task::shift).max().orElse(0);
    early = Math.ceilDiv(highest, batches);
    ends = new double[tasks.size()][rounds];
    for (double[] row : ends) {
      Arrays.fill(row, Double.NaN);
    }
    for (int rank = 0; rank < ranks; rank++) {
      programs.add(new ArrayList<>());
    }
    for (int task = 0; task < tasks.size(); task++) {
      programs.get(tasks.get(task).rank()).add(task);
    }
  }

  /**
   * Runs so many rounds.
   *
   * @param batches of a round: k
   * @param period seconds between the rounds of the timetable; 0 where there is none
   * @throws IllegalArgumentException where tasks wait for each other in a circle
   */
  public static RepeatedRun of(
      List<Task> tasks, int ranks, int batches, double period, int rounds) {
    Check.that(
        !tasks.isEmpty() && batches >= 1 && rounds >= 1,
        "there is work to repeat: tasks=%d, batches=%d, rounds=%d",
        tasks.size(),
        batches,
        rounds);
    RepeatedRun run = new RepeatedRun(List.copyOf(tasks), ranks, batches, rounds);
    run.run(period);
    return run;
  }

  /** Rounds until every task has met its first batch. */
  public static int rounds(List<Task> tasks, int batches) {
    int highest = tasks.stream().mapToInt(Task::shift).max().orElse(0);
    int lowest = tasks.stream().mapToInt(Task::shift).min().orElse(0);
    return Math.ceilDiv(highest, batches) + Math.ceilDiv(-lowest, batches) + 1;
  }

  /** Batch that a task works on in a round; negative for none. */
  public int batch(int task, int round) {
    return (round - early) * batches + tasks.get(task).shift();
  }

  private void run(double period) {
    List<List<Integer>> waiting = readers();
    int[] next = new int[programs.size()]; // how many of its tasks a rank has done in all rounds
    double[] free = new double[programs.size()];
    ArrayDeque<Integer> ready = new ArrayDeque<>();
    for (int rank = 0; rank < programs.size(); rank++) {
      ready.add(rank);
    }
    int left = 0;
    for (List<Integer> program : programs) {
      left += program.size() * rounds;
    }
    while (!ready.isEmpty()) {
      int rank = ready.remove();
      List<Integer> program = programs.get(rank);
      while (!program.isEmpty() && next[rank] < program.size() * rounds) {
        int task = program.get(next[rank] % program.size());
        int round = next[rank] / program.size();
        double given = batch(task, round) < 0 ? 0 : given(task, round);
        if (Double.isNaN(given)) {
          break;
        }
        if (batch(task, round) >= 0) {
          double table = tasks.get(task).notBefore() + round * period;
          double start = Math.max(Math.max(free[rank], given), table);
          free[rank] = start + tasks.get(task).seconds();
          ends[task][round] = free[rank];
          waiting.get(task).forEach(ready::add);
        }
        next[rank]++;
        left--;
      }
    }
    Check.that(left == 0, "all tasks start at some time: never_started=%d", left);
  }

  /** The ranks that wait for each task, other than its own. */
  private List<List<Integer>> readers() {
    List<List<Integer>> readers = new ArrayList<>();
    for (int task = 0; task < tasks.size(); task++) {
      readers.add(new ArrayList<>());
    }
    for (Task task : tasks) {
      for (int other : task.after()) {
        if (tasks.get(other).rank() != task.rank() && !readers.get(other).contains(task.rank())) {
          readers.get(other).add(task.rank());
        }
      }
    }
    return readers;
  }

  /** When all that a task needs in a round has ended; not a number where that is not known yet. */
  private double given(int task, int round) {
    double given = 0;
    for (int other : tasks.get(task).after()) {
      int behind = batch(task, round) - tasks.get(other).shift();
      Check.that(
          Math.floorMod(behind, batches) == 0,
          "tasks wait for the same batch: task=%d, other=%d",
          task,
          other);
      int then = Math.floorDiv(behind, batches) + early;
      if (then >= rounds) {
        return Double.NaN;
      }
      double end = ends[other][then];
      if (Double.isNaN(end)) {
        return end;
      }
      given = Math.max(given, end);
    }
    return given;
  }

  /** When a task ends in a round; not a number where it has nothing to do then. */
  public double end(int task, int round) {
    return ends[task][round];
  }

  /**
   * Seconds of a round, as the slowest rank takes them: the mean of the last rounds.
   *
   * @param measured how many rounds
   */
  public double period(int measured) {
    double longest = 0;
    for (List<Integer> program : programs) {
      if (!program.isEmpty()) {
        double[] last = ends[program.get(program.size() - 1)];
        longest = Math.max(longest, (last[rounds - 1] - last[rounds - 1 - measured]) / measured);
      }
    }
    return longest;
  }

  /**
   * The most that each rank holds.
   *
   * @param taken when each task starts
   * @param released when each task ends
   */
  public double[] peaks(double[] taken, double[] released) {
    double[] peaks = new double[programs.size()];
    for (int rank = 0; rank < peaks.length; rank++) {
      double held = 0;
      for (int round = 0; round < rounds; round++) {
        for (int task : programs.get(rank)) {
          if (batch(task, round) >= 0) {
            held += taken[task];
            peaks[rank] = Math.max(peaks[rank], held);
            held -= released[task];
          }
        }
      }
    }
    return peaks;
  }
}

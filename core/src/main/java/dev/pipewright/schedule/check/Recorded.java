package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator.Problem;
import java.util.ArrayList;
import java.util.List;

/** Whether recorded times respect what the ops of a schedule wait for. */
final class Recorded {
  private static final double ROUNDING = 1e-9; // of the whole time

  private final Schedule schedule;
  private final double[][] starts;
  private final double[][] ends;
  private final Needs needs;
  private final double tolerance;

  Recorded(Schedule schedule, double[][] starts, double[][] ends) {
    this.schedule = schedule;
    this.starts = starts;
    this.ends = ends;
    this.needs = new Needs(schedule);
    double last = 0;
    for (double[] rank : ends) {
      for (double end : rank) {
        last = Math.max(last, end);
      }
    }
    tolerance = ROUNDING * last;
  }

  List<Problem> problems(int most) {
    List<Problem> problems = new ArrayList<>();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      int[] before = {Needs.NONE, Needs.NONE}; // the last op that computes, that exchanges
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length && problems.size() < most; i++) {
        if (!overlap(rank, i, before, problems)) {
          early(rank, i, problems);
        }
      }
    }
    return problems;
  }

  private boolean overlap(int rank, int position, int[] before, List<Problem> problems) {
    long[] program = schedule.packed(rank);
    int stream = Schedule.pass(program[position]).exchanges() ? 1 : 0;
    int last = before[stream];
    boolean together = position > 0 && Schedule.isJoined(program[position - 1]);
    double start = starts[rank][position];
    before[stream] = position;
    boolean overlaps = last != Needs.NONE && !together && start < ends[rank][last] - tolerance;
    if (overlaps) {
      problems.add(
          new Problem.Overlap(
              needs.place(needs.op(rank, position)),
              start,
              needs.place(needs.op(rank, last)),
              ends[rank][last]));
    }
    return overlaps;
  }

  /** Names the last of what an op needs, where it starts before that has ended. */
  private void early(int rank, int position, List<Problem> problems) {
    int[] needed = new int[Needs.MOST];
    int count = needs.of(rank, position, needed);
    int latest = Needs.NONE;
    double latestEnd = starts[rank][position] + tolerance;
    for (int i = 0; i < count; i++) {
      int other = needs.rank(needed[i]);
      double end = ends[other][needed[i] - needs.op(other, 0)];
      if (end > latestEnd) {
        latest = needed[i];
        latestEnd = end;
      }
    }
    if (latest != Needs.NONE) {
      problems.add(
          new Problem.Early(
              needs.place(needs.op(rank, position)),
              starts[rank][position],
              needs.place(latest),
              latestEnd));
    }
  }
}

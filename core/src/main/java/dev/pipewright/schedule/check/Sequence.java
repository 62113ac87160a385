package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator.Place;
import dev.pipewright.schedule.check.Validator.Problem;
import java.util.ArrayList;
import java.util.List;

/** Whether each rank alone has its ops in an order that makes sense. */
final class Sequence {
  private final Schedule schedule;
  private final Needs needs;
  private final int most;
  private final List<Problem> problems = new ArrayList<>();
  private final int[] needed = new int[Needs.MOST];

  private Sequence(Schedule schedule, Needs needs, int most) {
    this.schedule = schedule;
    this.needs = needs;
    this.most = most;
  }

  static List<Problem> problems(Schedule schedule, Needs needs, int most) {
    Sequence sequence = new Sequence(schedule, needs, most);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      sequence.rank(rank);
    }
    return sequence.problems;
  }

  private void add(Problem problem) {
    if (problems.size() < most) {
      problems.add(problem);
    }
  }

  private void rank(int rank) {
    long[] program = schedule.packed(rank);
    for (int first = 0; first < program.length; ) {
      int last = Needs.last(program, first);
      for (int i = first; i <= last; i++) {
        Pass pass = Schedule.pass(program[i]);
        if (!pass.exchanges()) {
          inputs(rank, i, first, last);
        } else if (last > first) {
          add(new Problem.Together(place(rank, i), place(rank, i == first ? last : first)));
        }
        if (pass.propagates()) {
          recomputation(rank, i);
        } else if (pass == Pass.HAND_ON && Schedule.microBatch(program[i]) > 0) {
          turn(rank, i);
        }
      }
      first = last + 1;
    }
  }

  private Place place(int rank, int position) {
    return Place.of(schedule, rank, position);
  }

  /** What an op needs of its own rank comes before the op and those that run together with it. */
  private void inputs(int rank, int position, int first, int last) {
    int end = needs.op(rank, schedule.packed(rank).length);
    int count = needs.of(rank, position, needed);
    for (int i = 0; i < count; i++) {
      int from = needed[i];
      if (from >= needs.op(rank, first) && from <= needs.op(rank, last)) {
        add(new Problem.Together(place(rank, position), needs.place(from)));
      } else if (from > needs.op(rank, last) && from < end) {
        add(new Problem.Order(place(rank, position), needs.place(from)));
      }
    }
  }

  private void recomputation(int rank, int position) {
    int again = needs.recomputation(schedule.packed(rank)[position]);
    if (again > needs.op(rank, position)) {
      add(new Problem.Late(needs.place(again), place(rank, position)));
    }
  }

  private void turn(int rank, int position) {
    if (needs.user(rank, position) == Needs.NONE) {
      add(new Problem.Unused(needs.turnBefore(rank, position), place(rank, position)));
    }
  }
}

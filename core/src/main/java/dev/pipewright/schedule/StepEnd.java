package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A synchronous step's end: every rank adds up the gradients of a stage with the others that hold
 * it, behind its last backward pass of the stage, so that this runs beside what it still computes;
 * when all is computed it updates its stages. All ranks add up in the same order of stages, or they
 * would wait for each other for ever.
 */
public final class StepEnd {
  private final Schedule schedule;
  private final int depth;
  private final int[][] behind; // by rank and stage: one behind its last backward pass; 0 for none
  private final Integer[] order; // of stages: the earliest to be over on all ranks first

  private StepEnd(Schedule schedule) {
    this.schedule = schedule;
    this.depth = schedule.placement().depth();
    this.behind = new int[schedule.ranks()][depth];
    int[] over = new int[depth];
    for (int rank = 0; rank < behind.length; rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]).releases()) {
          int stage = Schedule.stage(program[i]) % depth;
          behind[rank][stage] = i + 1;
          over[stage] = Math.max(over[stage], i + 1);
        }
      }
    }
    order = new Integer[depth];
    Arrays.setAll(order, stage -> stage);
    Arrays.sort(order, Comparator.comparingInt(stage -> over[stage]));
  }

  /** The schedule with a {@code REDUCE} and an {@code UPDATE} of each stage on each rank. */
  public static Schedule of(Schedule schedule) {
    StepEnd end = new StepEnd(schedule);
    long[][] programs = new long[schedule.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = end.program(rank);
    }
    return new Schedule(schedule.name(), schedule.placement(), schedule.microBatches(), programs);
  }

  private long[] program(int rank) {
    long[] program = schedule.packed(rank);
    Program ended = new Program(program.length + 2 * depth);
    int at = 0;
    List<Integer> stages = new ArrayList<>(); // of all chains
    for (int stage : order) {
      int from = behind[rank][stage];
      if (from > 0) {
        while (at < from || (at > 0 && at < program.length && Schedule.isJoined(program[at - 1]))) {
          ended.add(program[at++]);
        }
        stages.add(Schedule.stage(program[from - 1]));
        ended.add(Pass.REDUCE, stages.getLast(), 0);
      }
    }
    while (at < program.length) {
      ended.add(program[at++]);
    }
    stages.forEach(stage -> ended.add(Pass.UPDATE, stage, 0));
    return ended.packed();
  }
}

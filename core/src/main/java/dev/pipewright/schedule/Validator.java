package dev.pipewright.schedule;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * Says whether a schedule can run: each stage's forward and backward of each micro-batch exactly
 * once (the backward whole, or as its two halves), on the rank that owns the stage, and an order in
 * which no rank waits for ever.
 */
public final class Validator {
  /** What is wrong, and with which op. */
  public sealed interface Problem {
    /** Work that no rank does. */
    record Missing(Op op) implements Problem {
      @Override
      public String toString() {
        return "stage %d never runs %s".formatted(op.stage(), op);
      }
    }

    /** Work that is done twice. */
    record Duplicate(int rank, Op op) implements Problem {
      @Override
      public String toString() {
        return "rank %d runs %s of stage %d again".formatted(rank, op, op.stage());
      }
    }

    /** Work that belongs to another rank, stage or micro-batch range. */
    record Foreign(int rank, Op op) implements Problem {
      @Override
      public String toString() {
        return "rank %d runs %s of stage %d, which is not its own".formatted(rank, op, op.stage());
      }
    }

    /** A rank whose next op waits for something that can never happen. */
    record Deadlock(int rank, Op op) implements Problem {
      @Override
      public String toString() {
        return "rank %d waits for ever before %s of stage %d".formatted(rank, op, op.stage());
      }
    }
  }

  private Validator() {}

  /** All problems; empty for a schedule that can run. */
  public static List<Problem> check(Schedule schedule) {
    List<Problem> problems = new ArrayList<>(coverage(schedule));
    if (problems.isEmpty()) {
      deadlock(schedule).ifPresent(problems::add);
    }
    return problems;
  }

  private static List<Problem> coverage(Schedule schedule) {
    List<Problem> problems = new ArrayList<>();
    Placement placement = schedule.placement();
    int passes = Op.Pass.values().length;
    BitSet seen = new BitSet();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (Op op : schedule.program(rank)) {
        if (op.stage() >= schedule.stages()
            || placement.rankOf(op.stage()) != rank
            || op.microBatch() < 0
            || op.microBatch() >= schedule.microBatches()) {
          problems.add(new Problem.Foreign(rank, op));
          continue;
        }
        int key = key(op, schedule);
        if (seen.get(key) || doneOtherwise(op, schedule, seen)) {
          problems.add(new Problem.Duplicate(rank, op));
        }
        seen.set(key);
      }
    }
    for (int key = 0; key < schedule.stages() * schedule.microBatches() * passes; key += passes) {
      missing(key / passes, schedule, seen).forEach(problems::add);
    }
    return problems;
  }

  /** Whether a whole backward pass meets one of its parts. */
  private static boolean doneOtherwise(Op op, Schedule schedule, BitSet seen) {
    return switch (op.pass()) {
      case BACKWARD ->
          seen.get(key(with(op, Op.Pass.BACKWARD_INPUT), schedule))
              || seen.get(key(with(op, Op.Pass.BACKWARD_WEIGHT), schedule));
      case BACKWARD_INPUT, BACKWARD_WEIGHT -> seen.get(key(with(op, Op.Pass.BACKWARD), schedule));
      case FORWARD, RECOMPUTE, UPDATE, REDUCE, GATHER, HAND_ON -> false;
    };
  }

  private static Op with(Op op, Op.Pass pass) {
    return new Op(pass, op.stage(), op.microBatch());
  }

  /** What nobody does of one stage's work on one micro-batch. */
  private static List<Problem> missing(int place, Schedule schedule, BitSet seen) {
    List<Problem> problems = new ArrayList<>();
    int stage = place / schedule.microBatches();
    Op forward = new Op(Op.Pass.FORWARD, stage, place % schedule.microBatches());
    if (!seen.get(key(forward, schedule))) {
      problems.add(new Problem.Missing(forward));
    }
    boolean input = seen.get(key(with(forward, Op.Pass.BACKWARD_INPUT), schedule));
    boolean weight = seen.get(key(with(forward, Op.Pass.BACKWARD_WEIGHT), schedule));
    if (input != weight) {
      Op.Pass half = input ? Op.Pass.BACKWARD_WEIGHT : Op.Pass.BACKWARD_INPUT;
      problems.add(new Problem.Missing(with(forward, half)));
    } else if (!input && !seen.get(key(with(forward, Op.Pass.BACKWARD), schedule))) {
      problems.add(new Problem.Missing(with(forward, Op.Pass.BACKWARD)));
    }
    return problems;
  }

  /** Runs every rank as far as it gets, over and over, until nothing moves. */
  private static Optional<Problem> deadlock(Schedule schedule) {
    int[] next = new int[schedule.ranks()];
    BitSet done = new BitSet();
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < next.length; rank++) {
        long[] program = schedule.packed(rank);
        int together = together(program, next[rank]);
        while (next[rank] < program.length
            && ready(program, next[rank], together, schedule, done)) {
          for (int i = next[rank]; i <= together; i++) {
            done.set(key(op(program[i]), schedule));
          }
          next[rank] = together + 1;
          together = together(program, next[rank]);
          moved = true;
        }
      }
    }
    for (int rank = 0; rank < next.length; rank++) {
      long[] program = schedule.packed(rank);
      if (next[rank] < program.length) {
        return Optional.of(new Problem.Deadlock(rank, op(program[next[rank]])));
      }
    }
    return Optional.empty();
  }

  /** The last op that runs together with the one at {@code first}. */
  private static int together(long[] program, int first) {
    int last = first;
    while (last < program.length - 1 && Schedule.isJoined(program[last])) {
      last++;
    }
    return last;
  }

  private static Op op(long packed) {
    return new Op(Schedule.pass(packed), Schedule.stage(packed), Schedule.microBatch(packed));
  }

  private static boolean ready(
      long[] program, int first, int last, Schedule schedule, BitSet done) {
    for (int i = first; i <= last; i++) {
      if (!ready(op(program[i]), schedule, done)) {
        return false;
      }
    }
    return true;
  }

  private static boolean ready(Op op, Schedule schedule, BitSet done) {
    Placement placement = schedule.placement();
    int stage = op.stage();
    int microBatch = op.microBatch();
    boolean forward = done.get(key(with(op, Op.Pass.FORWARD), schedule));
    return switch (op.pass()) {
      case FORWARD ->
          placement.first(stage)
              || done.get(key(new Op(Op.Pass.FORWARD, stage - 1, microBatch), schedule));
      case BACKWARD, BACKWARD_INPUT ->
          forward
              && (placement.last(stage)
                  || done.get(key(new Op(Op.Pass.BACKWARD, stage + 1, microBatch), schedule))
                  || done.get(
                      key(new Op(Op.Pass.BACKWARD_INPUT, stage + 1, microBatch), schedule)));
      case BACKWARD_WEIGHT -> done.get(key(with(op, Op.Pass.BACKWARD_INPUT), schedule));
      case RECOMPUTE -> forward;
      case UPDATE, REDUCE, GATHER, HAND_ON -> true;
    };
  }

  private static int key(Op op, Schedule schedule) {
    return (op.stage() * schedule.microBatches() + op.microBatch()) * Op.Pass.values().length
        + op.pass().code();
  }
}

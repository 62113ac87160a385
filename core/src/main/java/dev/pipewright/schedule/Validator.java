package dev.pipewright.schedule;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * Says whether a schedule can run: each stage's forward and backward of each micro-batch exactly
 * once, on the rank that owns the stage, and an order in which no rank waits for ever.
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
    int passes = Op.Pass.values().length;
    BitSet seen = new BitSet();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (Op op : schedule.program(rank)) {
        if (op.stage() != rank
            || op.microBatch() < 0
            || op.microBatch() >= schedule.microBatches()) {
          problems.add(new Problem.Foreign(rank, op));
          continue;
        }
        int key =
            (op.stage() * schedule.microBatches() + op.microBatch()) * passes + op.pass().code();
        if (seen.get(key)) {
          problems.add(new Problem.Duplicate(rank, op));
        }
        seen.set(key);
      }
    }
    for (int stage = 0; stage < schedule.stages(); stage++) {
      for (int i = 0; i < schedule.microBatches(); i++) {
        for (Op.Pass pass : Op.Pass.values()) {
          if (!seen.get((stage * schedule.microBatches() + i) * passes + pass.code())) {
            problems.add(new Problem.Missing(new Op(pass, stage, i)));
          }
        }
      }
    }
    return problems;
  }

  /** Runs every rank as far as it gets, over and over, until nothing moves. */
  private static Optional<Problem> deadlock(Schedule schedule) {
    int stages = schedule.stages();
    int[] next = new int[stages];
    BitSet done = new BitSet();
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < stages; rank++) {
        List<Op> program = schedule.program(rank);
        while (next[rank] < program.size() && ready(program.get(next[rank]), schedule, done)) {
          done.set(key(program.get(next[rank]++), schedule));
          moved = true;
        }
      }
    }
    for (int rank = 0; rank < stages; rank++) {
      if (next[rank] < schedule.packed(rank).length) {
        return Optional.of(new Problem.Deadlock(rank, schedule.program(rank).get(next[rank])));
      }
    }
    return Optional.empty();
  }

  private static boolean ready(Op op, Schedule schedule, BitSet done) {
    int stage = op.stage();
    int microBatch = op.microBatch();
    return switch (op.pass()) {
      case FORWARD ->
          stage == 0 || done.get(key(new Op(Op.Pass.FORWARD, stage - 1, microBatch), schedule));
      case BACKWARD ->
          done.get(key(new Op(Op.Pass.FORWARD, stage, microBatch), schedule))
              && (stage == schedule.stages() - 1
                  || done.get(key(new Op(Op.Pass.BACKWARD, stage + 1, microBatch), schedule)));
    };
  }

  private static int key(Op op, Schedule schedule) {
    return (op.stage() * schedule.microBatches() + op.microBatch()) * Op.Pass.values().length
        + op.pass().code();
  }
}

package dev.pipewright.schedule.periodic;

import java.util.ArrayList;
import java.util.List;

/**
 * Says whether a pattern can run for ever: no op starts before the one it waits for has ended (the
 * forward passes along the chain, then the backward passes back), and no rank does two at once.
 *
 * <p>Exact for the infinite unrolling: a batch waits as all batches k, 2k, … later do, and what
 * overlaps does so within one turn of the period. Times may be off by a billionth of the period.
 * O(ops · log ops).
 */
public final class PatternCheck {
  private static final double TOLERANCE = 1e-9; // of the period

  /** What is wrong. */
  public sealed interface Problem {
    /** An op that starts before the op that it waits for has ended. */
    record Early(RepeatedOp op, RepeatedOp awaited, double bySeconds) implements Problem {
      @Override
      public String toString() {
        return "%s starts %s s before %s has ended".formatted(op, bySeconds, awaited);
      }
    }

    /** Two ops that a rank runs at once. */
    record Overlap(int rank, RepeatedOp op, RepeatedOp next, double bySeconds) implements Problem {
      @Override
      public String toString() {
        return "rank %d starts %s %s s before %s has ended".formatted(rank, next, bySeconds, op);
      }
    }
  }

  private PatternCheck() {}

  /** All problems; empty for a pattern that can run. */
  public static List<Problem> check(Pattern pattern) {
    List<Problem> problems = new ArrayList<>(early(pattern));
    for (int rank = 0; rank < pattern.placement().ranks(); rank++) {
      problems.addAll(overlaps(pattern, rank));
    }
    return problems;
  }

  private static List<Problem> early(Pattern pattern) {
    int stages = pattern.stages().size();
    int batches = pattern.batches();
    RepeatedOp[][] chain = new RepeatedOp[batches][2 * stages];
    for (RepeatedOp op : pattern.ops()) {
      chain[Math.floorMod(op.shift(), batches)][Pattern.link(op, stages)] = op;
    }
    List<Problem> problems = new ArrayList<>();
    for (RepeatedOp[] batch : chain) {
      for (int i = 1; i < batch.length; i++) {
        double ready = pattern.origin(batch[i - 1]) + pattern.seconds(batch[i - 1]);
        double early = ready - pattern.origin(batch[i]);
        if (early > TOLERANCE * pattern.period()) {
          problems.add(new Problem.Early(batch[i], batch[i - 1], early));
        }
      }
    }
    return problems;
  }

  private static List<Problem> overlaps(Pattern pattern, int rank) {
    List<RepeatedOp> turn = new ArrayList<>();
    for (RepeatedOp op : pattern.ops()) {
      if (pattern.placement().rankOf(op.stage()) == rank) {
        turn.add(op);
      }
    }
    List<Problem> problems = new ArrayList<>();
    for (int i = 0; i < turn.size(); i++) {
      RepeatedOp op = turn.get(i);
      boolean last = i == turn.size() - 1;
      RepeatedOp next = turn.get(last ? 0 : i + 1);
      double free = next.start() + (last ? pattern.period() : 0);
      double overlap = op.start() + pattern.seconds(op) - free;
      if (overlap > TOLERANCE * pattern.period()) {
        problems.add(new Problem.Overlap(rank, op, next, overlap));
      }
    }
    return problems;
  }
}

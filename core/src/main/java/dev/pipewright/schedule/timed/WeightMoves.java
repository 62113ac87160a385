package dev.pipewright.schedule.timed;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * Moves weight gradients of a finished schedule to better places, one at a time, as long as that
 * helps: filling a gap that is a little too short may delay a rank and still pay.
 *
 * <p>Steepest descent within a budget; each trial is a longest path over all ops. For small
 * schedules: a search with more passes needs none of this.
 */
final class WeightMoves {
  private static final long BUDGET = 4_000_000; // ops in all trials
  private static final int SMALL = 2_000; // ops of a schedule that is worth the trials

  private final Placement placement;
  private final int microBatches;
  private final double[] forward;
  private final double[] input;
  private final double[] weight;
  private final double transfer;
  private final double kept;
  private final int[] caps;
  private final double[] forwardDone;
  private final double[] backwardDone;
  private final int[] next;
  private final double[] free;
  private final double[] begun;
  private long left = BUDGET;

  /**
   * Moves within memory.
   *
   * @param kept the share of an activation that only the weights' gradient frees
   * @param caps activations that each rank can hold
   */
  WeightMoves(
      Placement placement,
      int microBatches,
      double[] forward,
      double[] input,
      double[] weight,
      double transfer,
      double kept,
      int[] caps) {
    this.placement = placement;
    this.microBatches = microBatches;
    this.forward = forward;
    this.input = input;
    this.weight = weight;
    this.transfer = transfer;
    this.kept = kept;
    this.caps = caps;
    this.forwardDone = new double[placement.stages() * microBatches];
    this.backwardDone = new double[placement.stages() * microBatches];
    this.next = new int[placement.ranks()];
    this.free = new double[placement.ranks()];
    this.begun = new double[placement.ranks()];
  }

  /** The programs with their weight gradients where they cost least. */
  long[][] improved(long[][] programs) {
    long[][] best = programs;
    if (Arrays.stream(programs).mapToInt(program -> program.length).sum() > SMALL) {
      return best;
    }
    double least = score(programs);
    boolean better = true;
    while (better && left > 0) {
      better = false;
      for (int rank = 0; rank < best.length && left > 0; rank++) {
        for (int from = 0; from < best[rank].length && left > 0; from++) {
          if (Schedule.pass(best[rank][from]) != Pass.BACKWARD_WEIGHT) {
            continue;
          }
          for (int to = 0; to < best[rank].length && left > 0; to++) {
            long[][] moved = best.clone();
            moved[rank] = moved(best[rank], from, to);
            double score = to == from ? least : score(moved);
            if (score < least) {
              least = score;
              best = moved;
              better = true;
            }
          }
        }
      }
    }
    return best;
  }

  private static long[] moved(long[] program, int from, int to) {
    long[] moved = program.clone();
    long op = program[from];
    if (from < to) {
      System.arraycopy(program, from + 1, moved, from, to - from);
    } else {
      System.arraycopy(program, to, moved, to + 1, from - to);
    }
    moved[to] = op;
    return moved;
  }

  /**
   * The makespan and three times the longest span; infinite where ranks wait for ever or hold too
   * much.
   */
  private double score(long[][] programs) {
    int size = 0;
    for (int rank = 0; rank < programs.length; rank++) {
      size += programs[rank].length;
      if (!fits(programs[rank], caps[rank])) {
        return Double.POSITIVE_INFINITY;
      }
    }
    left -= size;
    Arrays.fill(forwardDone, Double.NaN);
    Arrays.fill(backwardDone, Double.NaN);
    Arrays.fill(next, 0);
    Arrays.fill(free, 0);
    Arrays.fill(begun, Double.NaN);
    int done = 0;
    boolean moving = true;
    while (moving) {
      moving = false;
      for (int rank = 0; rank < programs.length; rank++) {
        int before = next[rank];
        advance(rank, programs[rank]);
        done += next[rank] - before;
        moving |= next[rank] > before;
      }
    }
    if (done < size) {
      return Double.POSITIVE_INFINITY;
    }
    double makespan = 0;
    double span = 0;
    for (int rank = 0; rank < free.length; rank++) {
      makespan = Math.max(makespan, free[rank]);
      span = Math.max(span, free[rank] - begun[rank]);
    }
    return makespan + 3 * span;
  }

  /** The gradient of the input frees what the weights' gradient does not keep. */
  private boolean fits(long[] program, int cap) {
    double held = 0;
    for (long op : program) {
      held +=
          switch (Schedule.pass(op)) {
            case FORWARD -> 1;
            case BACKWARD_INPUT -> kept - 1;
            case BACKWARD_WEIGHT -> -kept;
            default -> 0;
          };
      if (held > cap + 1e-9) {
        return false;
      }
    }
    return true;
  }

  private void advance(int rank, long[] program) {
    while (next[rank] < program.length) {
      long op = program[next[rank]];
      double ready = ready(rank, op);
      if (Double.isNaN(ready)) {
        return;
      }
      double start = Math.max(free[rank], ready);
      begun[rank] = next[rank] == 0 ? start : begun[rank];
      int stage = Schedule.stage(op);
      int place = stage * microBatches + Schedule.microBatch(op);
      switch (Schedule.pass(op)) {
        case FORWARD -> forwardDone[place] = free[rank] = start + forward[stage];
        case BACKWARD_INPUT -> backwardDone[place] = free[rank] = start + input[stage];
        case BACKWARD_WEIGHT -> free[rank] = start + weight[stage];
        default -> throw new IllegalArgumentException("not split: op=" + op);
      }
      next[rank]++;
    }
  }

  private double ready(int rank, long op) {
    int stage = Schedule.stage(op);
    int i = Schedule.microBatch(op);
    return switch (Schedule.pass(op)) {
      case FORWARD -> placement.first(stage) ? 0 : arrival(forwardDone, stage - 1, i, rank);
      case BACKWARD_INPUT -> {
        double own = forwardDone[stage * microBatches + i];
        yield placement.last(stage)
            ? own
            : Math.max(own, arrival(backwardDone, stage + 1, i, rank));
      }
      default -> backwardDone[stage * microBatches + i];
    };
  }

  private double arrival(double[] done, int stage, int microBatch, int rank) {
    double at = done[stage * microBatches + microBatch];
    return placement.rankOf(stage) == rank ? at : at + transfer;
  }
}

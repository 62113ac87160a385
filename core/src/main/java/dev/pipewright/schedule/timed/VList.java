package dev.pipewright.schedule.timed;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * A list scheduler on a V: each rank in turn, the one that is free first, takes of its four next
 * passes the one it prefers among those that are ready and fit into memory. Its result is an order
 * of forward passes and input gradients; a {@link WeightFiller} places the weights' gradients anew.
 *
 * <p>The passes of a rank are numbered as a micro-batch meets them: 0 and 1 forward on the way
 * there and back, 2 and 3 backward.
 *
 * <p>O(ops · ranks).
 */
final class VList {
  /** The next passes of a rank, most wanted first. */
  interface Preference {
    void sort(int rank, int[] done, int[] kinds);
  }

  private static final double SLACK = 1e-9;

  private final int ranks;
  private final int microBatches;
  private final double[] forward; // by stage
  private final double[] input;
  private final double[] weight;
  private final double transfer;
  private final int cap;

  private final double[][] forwardDone; // by stage and micro-batch; infinite until known
  private final double[][] inputDone;
  private final double[] when; // a rank decides next
  private final double[] free;
  private final int[][] done; // by rank and kind
  private final int[] held;
  private final int[] heldThere; // of the way there only
  private final int[][] pending; // stages whose weights' gradients are left
  private final int[] pendingFrom;
  private final long[][] orders;
  private final int[] size;

  VList(
      int ranks,
      int microBatches,
      double[] forward,
      double[] input,
      double[] weight,
      double transfer,
      int cap) {
    this.ranks = ranks;
    this.microBatches = microBatches;
    this.forward = forward;
    this.input = input;
    this.weight = weight;
    this.transfer = transfer;
    this.cap = cap;
    forwardDone = new double[2 * ranks][microBatches];
    inputDone = new double[2 * ranks][microBatches];
    for (int stage = 0; stage < 2 * ranks; stage++) {
      Arrays.fill(forwardDone[stage], Double.POSITIVE_INFINITY);
      Arrays.fill(inputDone[stage], Double.POSITIVE_INFINITY);
    }
    when = new double[ranks];
    free = new double[ranks];
    done = new int[ranks][4];
    held = new int[ranks];
    heldThere = new int[ranks];
    pending = new int[ranks][2 * microBatches];
    pendingFrom = new int[ranks];
    orders = new long[ranks][4 * microBatches];
    size = new int[ranks];
  }

  /**
   * Runs once.
   *
   * @param limit micro-batches on the way there that a rank may hold, by rank
   * @param patience seconds that a rank waits for a pass it prefers
   * @return by rank; empty where all wait for ever
   */
  long[][] run(Preference preference, int[] limit, double patience) {
    int[] kinds = new int[4];
    for (int left = 4 * ranks * microBatches; left > 0; ) {
      int rank = first();
      if (when[rank] == Double.POSITIVE_INFINITY) {
        return new long[0][];
      }
      preference.sort(rank, done[rank], kinds);
      if (decide(rank, kinds, limit[rank], patience)) {
        left--;
      }
    }
    return orders;
  }

  private int first() {
    int first = 0;
    for (int rank = 1; rank < ranks; rank++) {
      if (when[rank] < when[first]) {
        first = rank;
      }
    }
    return first;
  }

  /** Whether a pass is done: the rank may wait or run a weights' gradient instead. */
  private boolean decide(int rank, int[] kinds, int limit, double patience) {
    double now = when[rank];
    double soonest = Double.POSITIVE_INFINITY;
    boolean starved = false;
    boolean waits = false;
    for (int kind : kinds) {
      double ready = ready(rank, kind);
      if (kind == 0 && heldThere[rank] >= limit(rank, limit)) {
        continue;
      }
      if (kind < 2 && held[rank] >= cap) {
        starved |= ready <= now;
      } else if (ready <= now + SLACK * now) {
        if (!waits) {
          compute(rank, kind, now);
          return true;
        }
        break;
      } else {
        soonest = Math.min(soonest, ready);
        waits |= ready <= now + patience;
      }
    }
    if (pendingFrom[rank] < done[rank][2] + done[rank][3]
        && ((starved && !waits) || fits(rank, soonest - now))) {
      weigh(rank, now);
    } else {
      free[rank] = now;
      when[rank] = soonest;
    }
    return false;
  }

  /** One more than the limit as soon as it is known when one of them ends. */
  private int limit(int rank, int limit) {
    return ready(rank, 3) < Double.POSITIVE_INFINITY ? limit + 1 : limit;
  }

  private boolean fits(int rank, double gap) {
    double seconds = weight[pending[rank][pendingFrom[rank]]];
    return gap >= seconds * (1 - SLACK);
  }

  private double ready(int rank, int kind) {
    int i = done[rank][kind];
    if (i == microBatches) {
      return Double.POSITIVE_INFINITY;
    }
    int stage = stage(rank, kind);
    if (kind < 2) {
      return stage == 0 ? 0 : arrival(forwardDone, stage - 1, rank, i);
    }
    double own = forwardDone[stage][i];
    return stage == 2 * ranks - 1 ? own : Math.max(own, arrival(inputDone, stage + 1, rank, i));
  }

  private double arrival(double[][] done, int stage, int rank, int i) {
    return rankOf(stage) == rank ? done[stage][i] : done[stage][i] + transfer;
  }

  private int stage(int rank, int kind) {
    return kind == 0 || kind == 3 ? rank : 2 * ranks - 1 - rank;
  }

  private int rankOf(int stage) {
    return stage < ranks ? stage : 2 * ranks - 1 - stage;
  }

  private void compute(int rank, int kind, double now) {
    int i = done[rank][kind];
    int stage = stage(rank, kind);
    boolean isForward = kind < 2;
    double end = now + (isForward ? forward[stage] : input[stage]);
    (isForward ? forwardDone : inputDone)[stage][i] = end;
    orders[rank][size[rank]++] =
        Schedule.pack(isForward ? Pass.FORWARD : Pass.BACKWARD_INPUT, stage, i);
    if (isForward) {
      held[rank]++;
      heldThere[rank] += kind == 0 ? 1 : 0;
    } else {
      pending[rank][done[rank][2] + done[rank][3]] = stage;
    }
    done[rank][kind]++;
    free[rank] = end;
    when[rank] = end;
    int other = isForward ? stage + 1 : stage - 1;
    if (other >= 0 && other < 2 * ranks && rankOf(other) != rank) {
      int woken = rankOf(other);
      when[woken] = Math.max(free[woken], Math.min(when[woken], end + transfer));
    }
  }

  private void weigh(int rank, double now) {
    int stage = pending[rank][pendingFrom[rank]++];
    held[rank]--;
    heldThere[rank] -= stage < ranks ? 1 : 0;
    free[rank] = now + weight[stage];
    when[rank] = free[rank];
  }
}

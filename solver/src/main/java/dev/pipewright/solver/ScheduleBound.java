package dev.pipewright.solver;

import dev.pipewright.schedule.Placement;
import dev.pipewright.solver.ScheduleProblem.Goal;
import java.util.Arrays;

/**
 * What no order can beat, in closed form; it spares the search where a known schedule attains it.
 *
 * <p>With one stage per rank: a rank starts when the first micro-batch reaches it. From then on it
 * has its own passes to run; the forward passes beyond the cap only after the first micro-batch has
 * come back; and every cap-th micro-batch only after one before it. Behind its last backward pass,
 * before which all weights' gradients are done but those the cap allows to be put off, the last
 * micro-batch still has its way back to the ranks before. With several stages per rank: a rank's
 * passes, behind the way of the first micro-batch to it and before the way back of the last, and
 * one micro-batch there and back. O(stages²).
 */
final class ScheduleBound {
  private final ScheduleProblem problem;
  private final Durations durations;
  private final long microBatches;

  private ScheduleBound(ScheduleProblem problem, Durations durations) {
    this.problem = problem;
    this.durations = durations;
    this.microBatches = problem.microBatches();
  }

  /** In ticks. */
  static long of(ScheduleProblem problem, Durations durations) {
    ScheduleBound bound = new ScheduleBound(problem, durations);
    return problem.placement().straight() ? bound.straight() : bound.anyhow();
  }

  private long straight() {
    long bound = 0;
    for (int stage = 0; stage < problem.placement().stages(); stage++) {
      long held = Math.min(problem.cap()[stage], microBatches);
      bound = Math.max(bound, from(stage, stage) + work(stage, 0));
      long end = work(stage, held); // of the last backward pass
      for (int other = stage; other >= 0; other--) {
        bound = Math.max(bound, from(stage, other) + end + durations.weight()[other]);
        if (other > 0) {
          end += durations.back()[other - 1] + durations.backward()[other - 1];
        }
      }
    }
    return bound;
  }

  /** When a stage may start, counted from when the goal's clock of another one starts. */
  private long from(int stage, int other) {
    boolean span = problem.goal() == Goal.SPAN;
    return durations.head(stage, span ? other : 0);
  }

  /** From a stage's first forward pass until all is done but some weights' gradients. */
  private long work(int stage, long putOff) {
    long forward = durations.forward()[stage];
    long backward = durations.backward()[stage];
    long weight = durations.weight()[stage];
    long trip = durations.trip(stage, problem.placement().stages() - 1);
    long held = Math.min(problem.cap()[stage], microBatches);
    long done = microBatches - putOff;
    long busy = microBatches * (forward + backward) + done * weight;
    long waits = Math.max(held * forward, forward + trip) - held * forward;
    long rounds = (microBatches - 1) / held;
    long round = forward + trip + backward + weight;
    long last = forward + trip + backward + (putOff > 0 ? 0 : weight);
    return Math.max(busy + waits, rounds * round + last);
  }

  private long anyhow() {
    Placement placement = problem.placement();
    long[] busy = new long[placement.ranks()];
    long[] before = new long[placement.ranks()];
    long[] behind = new long[placement.ranks()];
    Arrays.fill(before, Long.MAX_VALUE);
    Arrays.fill(behind, Long.MAX_VALUE);
    long bound = 0;
    for (int stage = 0; stage < placement.stages(); stage++) {
      int rank = placement.rankOf(stage);
      int first = stage - stage % placement.depth();
      busy[rank] += microBatches * durations.passes(stage);
      before[rank] = Math.min(before[rank], durations.head(stage, first));
      behind[rank] = Math.min(behind[rank], problem.split() ? 0 : durations.tail(stage, first));
      bound = Math.max(bound, thereAndBack(stage, first));
    }
    for (int rank = 0; rank < busy.length; rank++) {
      bound = Math.max(bound, busy[rank] == 0 ? 0 : before[rank] + busy[rank] + behind[rank]);
    }
    return bound;
  }

  /** Of one micro-batch to the end of its chain and back to a stage, whose weights come last. */
  private long thereAndBack(int stage, int first) {
    int last = first + problem.placement().depth() - 1;
    long turn = durations.head(stage, first) + durations.forward()[stage];
    long back = durations.trip(stage, last) + durations.backward()[stage];
    return turn + back + durations.weight()[stage];
  }
}

package dev.pipewright.sim.steady;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * How often a schedule that never flushes repeats once its pipeline is full, read off a long run:
 * from which round on the first stage ends every round the same time after the one before it, or
 * after the one some rounds before it.
 *
 * @param time of a period, in the unit of the run's times
 * @param microBatches of all chains that a period completes
 * @param idleShare the part of a period for which a rank computes nothing, on average
 */
public record Period(double time, int microBatches, double idleShare) {
  private static final double ROUNDING = 1e-9;

  /** The rounds of a run: to fill, to measure, to drain. */
  public record Rounds(int before, int measured, int after) {
    /**
     * Enough for a pipeline: it fills within a few times as many micro-batches as it has ranks, and
     * repeats after fewer micro-batches than that.
     *
     * @param round micro-batches of a round
     */
    public static Rounds of(int ranks, int round) {
      int once = Math.ceilDiv(ranks, round);
      return new Rounds(4 * once + 2, Math.max(8, 4 * once), 2 * once + 2);
    }

    public int all() {
      return before + measured + after;
    }
  }

  /**
   * The period of a run of so many rounds.
   *
   * @param round micro-batches of a round, of all chains: after so many the order repeats
   */
  public static Period of(Run run, int round, Rounds rounds) {
    Schedule schedule = run.schedule();
    int chains = schedule.placement().chains();
    Check.that(
        (long) schedule.microBatches() * chains == (long) rounds.all() * round,
        "a run has whole rounds: micro_batches=%d, chains=%d, round=%d, rounds=%d",
        schedule.microBatches(),
        chains,
        round,
        rounds.all());
    double[] all = ends(run, round, rounds.all());
    double[] ends =
        Arrays.copyOfRange(all, rounds.before(), rounds.before() + rounds.measured() + 1);
    int repeats = repeats(ends);
    int last = ends.length - 1;
    double time =
        repeats > 0 ? ends[repeats] - ends[0] : (ends[last] - ends[0]) / last; // else the mean
    int each = Math.max(1, repeats);
    double busy = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      busy += run.busy(rank);
    }
    double share = busy / rounds.all() * each / schedule.ranks() / time;
    return new Period(time, each * round, time == 0 ? 0 : Math.max(0, 1 - share));
  }

  /** After how many rounds the ends repeat, evenly over all of them; 0 where they do not. */
  private static int repeats(double[] ends) {
    for (int repeats = 1; 2 * repeats < ends.length; repeats++) {
      double time = ends[repeats] - ends[0];
      boolean even = true;
      for (int i = 0; even && i + repeats < ends.length; i++) {
        double rounding = ROUNDING * Math.max(time, ends[ends.length - 1]);
        even = Math.abs(ends[i + repeats] - ends[i] - time) <= rounding;
      }
      if (even) {
        return repeats;
      }
    }
    return 0;
  }

  /** When the first stage is done with each round: chains take micro-batches in turn. */
  private static double[] ends(Run run, int each, int rounds) {
    Schedule schedule = run.schedule();
    int chains = schedule.placement().chains();
    double[] ends = new double[rounds];
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]).propagates()
            && schedule.placement().first(Schedule.stage(program[i]))) {
          int chain = Schedule.stage(program[i]) / schedule.placement().depth();
          int round = (Schedule.microBatch(program[i]) * chains + chain) / each;
          ends[round] = Math.max(ends[round], run.end(rank, i));
        }
      }
    }
    return ends;
  }
}

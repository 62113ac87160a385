package dev.pipewright.schedule.search;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Compares orders on few micro-batches and runs the best of them in full. Ends early where nothing
 * can be better: no rank waits between its first op and its last, and no makespan can be shorter.
 */
final class Trials {
  /** Makes orders or programs, as {@link OpLanes} has them, for as many micro-batches as it has. */
  interface Source {
    /** By rank; empty where it finds none. */
    byte[][] orders(OpLanes lanes);
  }

  private record Trial(double score, Source source, double part, double allowance) {}

  private static final int FULL = 4; // trials that are run in full
  private static final long FULL_OPS = 100_000; // more of them, where they are short
  private static final long MOVED_OPS = 4_000_000; // of the runs with single ops moved
  private static final int FEWEST_MOVES = 1000; // fewer hardly find anything
  private static final double STEP =
      0.03; // of what ranks wait at most, from allowance to allowance
  private static final long ALLOWED_OPS = 400_000; // of the runs with allowances

  private final OpLanes lanes;
  private final OpLanes few;
  private final WeightFiller filler;
  private final WeightFiller fewFiller;
  private final List<Trial> trials = new ArrayList<>();
  private long left;
  private long ops; // so far
  private boolean met;
  private byte[][] best = new byte[0][];

  /**
   * Nothing tried yet.
   *
   * @param few micro-batches of a short run
   * @param kept the share of an activation that only the weights' gradient frees
   * @param cap activations that each rank can hold
   * @param ops that all short runs may have together
   */
  Trials(OpLanes lanes, int few, double kept, double[] cap, long ops) {
    this.lanes = lanes;
    filler = new WeightFiller(lanes, kept, cap);
    boolean same = few == lanes.microBatches;
    this.few = same ? lanes : lanes.with(few);
    fewFiller = same ? filler : new WeightFiller(this.few, kept, cap);
    left = ops;
  }

  /** Whether nothing can be better or all ops are used up. */
  boolean over() {
    return met || left <= 0;
  }

  /** Ops of all short runs so far. */
  long ops() {
    return ops;
  }

  /** Whether passes take equal time and transfers none. */
  boolean equal() {
    return lanes.isEqual();
  }

  /**
   * Tries a source.
   *
   * @param parts of a weights' gradient that have to fit into a gap
   * @return the best score, infinite where it cannot run
   */
  double offer(Source source, double... parts) {
    double best = Double.POSITIVE_INFINITY;
    byte[][] orders = source.orders(few);
    for (double part : parts) {
      best = Math.min(best, offer(source, orders, part, Double.POSITIVE_INFINITY));
    }
    return best;
  }

  private double offer(Source source, byte[][] orders, double part, double allowance) {
    left -= few.size();
    ops += few.size();
    if (!fewFiller.run(orders, part, allowance)) {
      return Double.POSITIVE_INFINITY;
    }
    met |= few.isLeast(fewFiller.span(), fewFiller.makespan());
    double score = fewFiller.score();
    trials.add(new Trial(score, source, part, allowance));
    return score;
  }

  /** The programs of the best trial, packed; throws where no source can run. */
  long[][] first() {
    trials.sort(Comparator.comparingDouble(Trial::score));
    return full(1);
  }

  /**
   * The same of the best trials, each run with all micro-batches, once their ranks have less time
   * to wait.
   */
  long[][] allowed() {
    trials.sort(Comparator.comparingDouble(Trial::score));
    if (!met) {
      allow(List.copyOf(trials));
      trials.sort(Comparator.comparingDouble(Trial::score));
    }
    return full(few == lanes ? 1 : Math.max(FULL, FULL_OPS / lanes.size()));
  }

  /** The same with single ops moved. */
  long[][] moved() {
    long moves = MOVED_OPS / lanes.size();
    if (moves >= FEWEST_MOVES) {
      best = new ScheduleLocalSearch(lanes, filler).improve(best, moves);
    }
    return lanes.packed(best);
  }

  private long[][] full(long full) {
    double least = Double.POSITIVE_INFINITY;
    best = new byte[0][];
    for (int i = 0; i < trials.size() && (i < full || best.length == 0); i++) {
      Trial trial = trials.get(i);
      if (filler.run(trial.source.orders(lanes), trial.part, trial.allowance)
          && filler.score() < least) {
        least = filler.score();
        best = filler.programs();
      }
    }
    Check.that(best.length > 0, "no order fits into memory: ranks=%d", lanes.ranks);
    return lanes.packed(best);
  }

  /** Gives the ranks of the best trials less and less time to wait. */
  private void allow(List<Trial> best) {
    left = ALLOWED_OPS;
    for (int i = 0; i < best.size() && !over(); i++) {
      Trial trial = best.get(i);
      byte[][] orders = trial.source.orders(few);
      fewFiller.run(orders, trial.part, Double.POSITIVE_INFINITY);
      double idle = fewFiller.idle();
      for (double share = 1 - STEP / 3; share > 0 && idle > 0; share -= STEP) {
        offer(trial.source, orders, trial.part, share * idle);
      }
    }
  }
}

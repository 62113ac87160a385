package dev.pipewright.planner;

import dev.pipewright.model.Chain;
import dev.pipewright.planner.PlacementSpace.Step;
import dev.pipewright.planner.StagePricer.Outcome;

/**
 * A first upper bound for a search: for every number of stages the plan that deals out devices
 * evenly and cuts where each stage gets its devices' share of the work.
 */
final class EvenSplits {
  private EvenSplits() {}

  /** The step time of the best of them; infinite when none fits. */
  static double best(
      Chain chain, PlacementSpace space, StagePricer pricer, double[] work, int mostStages) {
    int positions = work.length - 1;
    int units = space.freeDevices(space.start()) / space.unit();
    double best = Double.POSITIVE_INFINITY;
    double[] pool = new double[2 * pricer.width()];
    for (int stages = 1; stages <= Math.min(mostStages, Math.min(units, positions)); stages++) {
      best = Math.min(best, price(chain, space, pricer, work, stages, units, best, pool));
    }
    return best;
  }

  private static double price(
      Chain chain,
      PlacementSpace space,
      StagePricer pricer,
      double[] work,
      int stages,
      int units,
      double limit,
      double[] pool) {
    int positions = work.length - 1;
    int state = space.start();
    int end = positions;
    int unitsLeft = units;
    pricer.nothing(pool, 0);
    for (int behind = 0; behind < stages; behind++) {
      int stagesLeft = stages - behind;
      int take = unitsLeft / stagesLeft;
      unitsLeft -= take;
      int first =
          stagesLeft == 1 ? 0 : cut(work, end, stagesLeft, (double) unitsLeft / (unitsLeft + take));
      while (first > 0 && !chain.precedes(first - 1, end - 1)) {
        first--; // a branch crosses that border
      }
      if (first < stagesLeft - 1) {
        return Double.POSITIVE_INFINITY;
      }
      Step step = find(space.steps(state), take * space.unit());
      if (step == null || !pricer.open(pool, 0, behind, end, step, limit)) {
        return Double.POSITIVE_INFINITY;
      }
      Outcome outcome = pricer.stage(pool, first, pricer.width());
      if (outcome == Outcome.STOP || outcome == Outcome.SKIP) {
        return Double.POSITIVE_INFINITY;
      }
      System.arraycopy(pool, pricer.width(), pool, 0, pricer.width());
      state = step.next();
      end = first;
    }
    return pricer.seconds(pool, 0);
  }

  /** The position before which nearest to {@code share} of the work up to {@code end} lies. */
  private static int cut(double[] work, int end, int stagesLeft, double share) {
    int first = end - 1;
    while (first > stagesLeft - 1
        && Math.abs(work[first - 1] - share * work[end])
            <= Math.abs(work[first] - share * work[end])) {
      first--;
    }
    return first;
  }

  private static @org.jspecify.annotations.Nullable Step find(Step[] steps, int devices) {
    for (Step step : steps) {
      if (step.devices() == devices) {
        return step;
      }
    }
    return null;
  }
}

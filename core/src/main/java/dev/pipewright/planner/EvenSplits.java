package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.PlacementSpace.Step;
import dev.pipewright.planner.StagePricer.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A first upper bound for a search: for every number of stages the plan that deals out devices
 * evenly and cuts so that the stage with the most work for its devices has as little as possible.
 */
final class EvenSplits {
  private EvenSplits() {}

  /** The best of them; empty when none fits. */
  static Optional<Found> best(
      StageCosts costs, PlacementSpace space, StagePricer pricer, double[] work, int mostStages) {
    int positions = work.length - 1;
    int units = space.freeDevices(space.start()) / space.unit();
    Optional<Found> best = Optional.empty();
    double[] pool = new double[2 * pricer.width()];
    for (int stages = 1; stages <= Math.min(mostStages, Math.min(units, positions)); stages++) {
      double limit = best.map(Found::seconds).orElse(Double.POSITIVE_INFINITY);
      Optional<Found> even = split(costs, space, pricer, work, stages, units, limit, pool);
      if (even.isPresent() && even.get().seconds() < limit) {
        best = even;
      }
    }
    return best;
  }

  private static Optional<Found> split(
      StageCosts costs,
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
    double most = leastWork(work, stages, units);
    int[] firsts = new int[stages];
    boolean[] recompute = new boolean[stages];
    List<Step> taken = new ArrayList<>();
    pricer.nothing(pool, 0);
    for (int behind = 0; behind < stages; behind++) {
      int stagesLeft = stages - behind;
      int take = unitsLeft / stagesLeft;
      unitsLeft -= take;
      int first = front(work, end, stagesLeft, most * take);
      while (first > 0 && !costs.isStage(first, end)) {
        first--; // a branch crosses that border
      }
      if (first < stagesLeft - 1) {
        return Optional.empty();
      }
      Step step = find(space.steps(state), take * space.unit());
      if (step == null || !pricer.open(pool, 0, behind, end, step, limit)) {
        return Optional.empty();
      }
      Outcome outcome = pricer.stage(pool, first, pricer.width());
      if (outcome == Outcome.STOP || outcome == Outcome.SKIP) {
        return Optional.empty();
      }
      System.arraycopy(pool, pricer.width(), pool, 0, pricer.width());
      firsts[stagesLeft - 1] = first;
      recompute[stagesLeft - 1] = outcome == Outcome.RECOMPUTES;
      taken.add(step);
      state = step.next();
      end = first;
    }
    double seconds = pricer.seconds(pool, 0);
    return Optional.of(new Found(seconds, firsts, space.assign(taken), recompute));
  }

  /** The least work per unit of devices with which stages filled from the end take everything. */
  private static double leastWork(double[] work, int stages, int units) {
    double low = work[work.length - 1] / units;
    double high = work[work.length - 1];
    for (int step = 0; step < 40 && high > low * (1 + 1e-9); step++) {
      double middle = (low + high) / 2;
      if (suffices(work, stages, units, middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private static boolean suffices(double[] work, int stages, int units, double most) {
    int end = work.length - 1;
    int unitsLeft = units;
    for (int stagesLeft = stages; stagesLeft > 1; stagesLeft--) {
      int take = unitsLeft / stagesLeft;
      unitsLeft -= take;
      int first = front(work, end, stagesLeft, most * take);
      if (work[end] - work[first] > most * take) {
        return false;
      }
      end = first;
    }
    return work[end] <= most * unitsLeft;
  }

  /** Where a stage begins that ends at {@code end} and does at most so much; one layer at least. */
  private static int front(double[] work, int end, int stagesLeft, double most) {
    if (stagesLeft == 1) {
      return 0;
    }
    int first = end - 1;
    while (first > stagesLeft - 1 && work[end] - work[first - 1] <= most) {
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

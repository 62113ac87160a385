package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.PlacementSpace.Step;
import dev.pipewright.planner.StagePricer.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A first upper bound for a search: for every number of stages the plan that deals out devices
 * evenly and cuts so that the stage with the most work for its devices has as little as possible;
 * then, one layer at a time, the cuts are moved while that helps.
 */
final class EvenSplits {
  /** The work of the fullest stage is found to this factor. */
  private static final double CLOSE = 1.002;

  /** Cuts are moved for up to this many stages; further ones gain little and take long. */
  private static final int MOVED = 6;

  private final StageCosts costs;
  private final PlacementSpace space;
  private final StagePricer pricer;
  private final double[] work;
  private final int units;
  private final double[] pool;

  private EvenSplits(StageCosts costs, PlacementSpace space, StagePricer pricer, double[] work) {
    this.costs = costs;
    this.space = space;
    this.pricer = pricer;
    this.work = work;
    this.units = space.freeDevices(space.start()) / space.unit();
    this.pool = new double[2 * pricer.width()];
  }

  /**
   * The best of them; empty when none fits.
   *
   * @param work seconds by position, cumulative
   */
  static Optional<Found> best(
      StageCosts costs,
      PlacementSpace space,
      StagePricer pricer,
      double[] work,
      int leastStages,
      int mostStages) {
    return new EvenSplits(costs, space, pricer, work).best(leastStages, mostStages);
  }

  private Optional<Found> best(int leastStages, int mostStages) {
    Optional<Found> best = Optional.empty();
    for (int stages = leastStages;
        stages <= Math.min(mostStages, Math.min(units, costs.size()));
        stages++) {
      int[] firsts = evenly(stages);
      if (firsts.length == stages) {
        best = better(best, priced(firsts, seconds(best)));
        if (stages <= MOVED) {
          best = better(best, moved(firsts, seconds(best)));
        }
      }
    }
    return best;
  }

  private static double seconds(Optional<Found> found) {
    return found.map(Found::seconds).orElse(Double.POSITIVE_INFINITY);
  }

  private static Optional<Found> better(Optional<Found> a, Optional<Found> b) {
    return seconds(b) < seconds(a) ? b : a;
  }

  /** The first positions of so many stages; fewer where branches of the network leave no room. */
  private int[] evenly(int stages) {
    double most = leastWork(stages);
    int[] firsts = new int[stages];
    int end = costs.size();
    int unitsLeft = units;
    for (int stagesLeft = stages; stagesLeft > 0; stagesLeft--) {
      int take = unitsLeft / stagesLeft;
      unitsLeft -= take;
      int first = front(end, stagesLeft, most * take);
      while (first > 0 && !costs.isStage(first, end)) {
        first--; // a branch crosses that border
      }
      if (first < stagesLeft - 1) {
        return new int[0];
      }
      firsts[stagesLeft - 1] = first;
      end = first;
    }
    return firsts;
  }

  /** Moves one cut at a time by one position as long as that helps. */
  private Optional<Found> moved(int[] start, double limit) {
    int[] firsts = start.clone();
    Optional<Found> best = Optional.empty();
    double least = seconds(priced(firsts, Double.POSITIVE_INFINITY));
    boolean better = true;
    while (better) {
      better = false;
      for (int cut = 1; cut < firsts.length; cut++) {
        for (int by = -1; by <= 1; by += 2) {
          firsts[cut] += by;
          Optional<Found> other = priced(firsts, least);
          if (seconds(other) < least) {
            least = seconds(other);
            best = other;
            better = true;
          } else {
            firsts[cut] -= by;
          }
        }
      }
    }
    return least < limit ? best : Optional.empty();
  }

  /** The pipeline with these cuts on evenly dealt devices; empty if it is none or too slow. */
  private Optional<Found> priced(int[] firsts, double limit) {
    int stages = firsts.length;
    boolean[] recompute = new boolean[stages];
    List<Step> taken = new ArrayList<>();
    int state = space.start();
    int end = costs.size();
    int unitsLeft = units;
    pricer.nothing(pool, 0);
    for (int s = stages - 1; s >= 0; s--) {
      int take = unitsLeft / (s + 1);
      unitsLeft -= take;
      Step step = find(space.steps(state), take * space.unit());
      if (step == null
          || !costs.isStage(firsts[s], end)
          || pricer.open(pool, 0, stages - 1 - s, end, step, limit) < firsts[s]) {
        return Optional.empty();
      }
      Outcome outcome = pricer.stage(pool, firsts[s], pricer.width());
      if (outcome == Outcome.STOP || outcome == Outcome.SKIP) {
        return Optional.empty();
      }
      System.arraycopy(pool, pricer.width(), pool, 0, pricer.width());
      recompute[s] = outcome == Outcome.RECOMPUTES;
      taken.add(step);
      state = step.next();
      end = firsts[s];
    }
    double seconds = pricer.seconds(pool, 0);
    return Optional.of(new Found(seconds, firsts.clone(), space.assign(taken), recompute));
  }

  /** The least work per unit of devices with which stages filled from the end take everything. */
  private double leastWork(int stages) {
    double high = work[work.length - 1];
    double low = high / units;
    while (high > low * CLOSE) {
      double middle = (low + high) / 2;
      if (suffices(stages, middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private boolean suffices(int stages, double most) {
    int end = work.length - 1;
    int unitsLeft = units;
    for (int stagesLeft = stages; stagesLeft > 1; stagesLeft--) {
      int take = unitsLeft / stagesLeft;
      unitsLeft -= take;
      int first = front(end, stagesLeft, most * take);
      if (work[end] - work[first] > most * take) {
        return false;
      }
      end = first;
    }
    return work[end] <= most * unitsLeft;
  }

  /** Where a stage begins that ends at {@code end} and does at most so much; one layer at least. */
  private int front(int end, int stagesLeft, double most) {
    if (stagesLeft == 1) {
      return 0;
    }
    int first = end - 1;
    while (first > stagesLeft - 1 && work[end] - work[first - 1] <= most) {
      first--;
    }
    return first;
  }

  private static @Nullable Step find(Step[] steps, int devices) {
    for (Step step : steps) {
      if (step.devices() == devices) {
        return step;
      }
    }
    return null;
  }
}

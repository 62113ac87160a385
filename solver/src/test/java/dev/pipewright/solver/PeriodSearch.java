package dev.pipewright.solver;

import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the shortest period for which a model has a solution, by bisection: a pattern stretched to
 * a longer period stays one and holds no more. First among whole ticks, the largest common divisor
 * of all passes, then among sixtieths of the last one, since a critical cycle through a pattern may
 * span several periods.
 */
final class PeriodSearch {
  private static final int PARTS = 60; // of a tick

  /** What is asked of one period. */
  interface Model {
    CpModel model();

    /** The pattern that a solution stands for. */
    Pattern pattern(CpSolver values, double seconds);
  }

  /** Makes the model of a period for the passes along the chain, both in the same ticks. */
  interface Question {
    Model of(long[] ticks, long period);
  }

  private final IntegerTicks clock;
  private final long[] ticks; // along the chain: forward passes, then backward passes back
  private final SearchLimit limit;
  private double usedSeconds;
  private double usedWork;
  private @Nullable Pattern best;

  PeriodSearch(List<StageLoad> stages, SearchLimit limit) {
    this.limit = limit;
    double[] seconds = new double[2 * stages.size()];
    for (int stage = 0; stage < stages.size(); stage++) {
      seconds[stage] = stages.get(stage).forwardSeconds();
      seconds[seconds.length - 1 - stage] = stages.get(stage).backwardSeconds();
    }
    clock = IntegerTicks.of(seconds);
    ticks = clock.counts(seconds);
    Check.that(all() > 0, "a pattern takes time: seconds=0");
  }

  IntegerTicks clock() {
    return clock;
  }

  long[] ticks() {
    return ticks;
  }

  /** All passes of one batch. */
  long all() {
    return Arrays.stream(ticks).sum();
  }

  /** The last pattern that was found. */
  @Nullable Pattern best() {
    return best;
  }

  /**
   * The shortest period.
   *
   * @param low in ticks, that no pattern is below
   * @param high in ticks, that is long enough for a pattern if any is
   * @param known a pattern of that period; null where nobody knows one
   */
  SolverAnswer<Pattern> shortest(Question question, long low, long high, @Nullable Pattern known) {
    best = known;
    if (known == null) {
      @Nullable Boolean exists = exists(question, high, 1);
      if (!Boolean.TRUE.equals(exists)) {
        return exists == null
            ? new SolverAnswer.Unknown<>(clock.amount(low))
            : new SolverAnswer.Impossible<>();
      }
    }
    long bound = bisect(question, low, high, low, 1);
    long reached = reached(1);
    if (bound == reached) { // proven among whole ticks
      long finest = reached * PARTS;
      long below = Math.max(low * PARTS, finest - PARTS + 1);
      bound = bisect(question, below, finest, finest - 1, PARTS);
    } else {
      bound *= PARTS;
    }
    if (best == null) {
      throw new IllegalStateException("a search ends with a pattern");
    }
    boolean optimal = bound == reached(PARTS);
    double least = clock.amount(bound) / PARTS;
    return new SolverAnswer.Found<>(best, best.period(), optimal ? best.period() : least, optimal);
  }

  private long reached(int parts) {
    double period = best == null ? 0 : best.period();
    return Math.round(period * parts / clock.amount(1));
  }

  /**
   * Looks for the shortest period from low to high, the latter of which is long enough, in parts of
   * a tick. Returns what no pattern is below.
   *
   * @param first to be tried where there is a choice
   */
  private long bisect(Question question, long low, long high, long first, int parts) {
    long bound = low;
    boolean gap = false; // a period of which nobody knows
    long next = first;
    while (low < high) {
      @Nullable Boolean exists = exists(question, next, parts);
      if (Boolean.TRUE.equals(exists)) {
        high = next;
      } else {
        low = next + 1;
        gap |= exists == null;
        bound = gap ? bound : low;
      }
      next = (low + high) >>> 1;
    }
    return bound;
  }

  /** Whether a pattern of that period exists; null where the search was cut short. */
  @Nullable Boolean exists(Question question, long period, int parts) {
    Search.load();
    long[] parted = Arrays.stream(ticks).map(count -> count * parts).toArray();
    Model model = question.of(parted, period);
    SearchLimit left = limit.less(usedSeconds, usedWork);
    Search search = Search.run(model.model(), new SearchLimit(left.seconds() / 2, left.work() / 2));
    usedSeconds += search.seconds();
    usedWork += search.work();
    if (search.found()) {
      best = model.pattern(search.values(), clock.amount(period) / parts);
      return true;
    }
    return search.impossible() ? false : null;
  }
}

package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Discipline.Dropping;
import dev.pipewright.schedule.periodic.Discipline.Star;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Cuts a chain into one stage per device so that, within memory, batches follow each other as fast
 * as a discipline lets them.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §5: it finds the
 * pattern of given stages; here the stages are found with it. A cut's transfers are a stage of
 * their own, on a link of their own (§3.1).
 *
 * <p>Layers may run again: a stage takes the least extra time with which the batches that its group
 * holds fit.
 *
 * <p>Exact for each discipline. Whether a period is long enough is answered by {@code
 * ContiguousPeriodSearch}; a longer one never needs more memory, so periods are bisected, and since
 * answers change only at the sums that it compares, each answer moves a bound to the next sum. At
 * most some fifty answers of O(devices · layers²).
 */
public final class ContiguousPlanner {
  private ContiguousPlanner() {}

  /** The best plan; empty where no cut fits even with one batch at a time. */
  public static Optional<PlacedPattern> plan(PeriodicProblem problem, Discipline discipline) {
    return plan(problem, discipline, Double.POSITIVE_INFINITY, () -> false);
  }

  /**
   * The best plan that takes less than so many seconds per batch; empty where there is none.
   *
   * @param stop asked now and then; true ends the search with the best so far
   */
  static Optional<PlacedPattern> plan(
      PeriodicProblem problem,
      Discipline discipline,
      double secondsPerBatch,
      BooleanSupplier stop) {
    ContiguousPeriodSearch search = new ContiguousPeriodSearch(problem, discipline, stop);
    double longest = Math.min(inARow(problem), secondsPerBatch / discipline.stretch());
    if (!search.keepsUp(longest)) {
      return Optional.empty();
    }
    double high = search.below();
    double low = Math.min(high, PeriodBounds.work(problem).value());
    while (low < high && !stop.getAsBoolean()) {
      double halved = low + (high - low) / 2;
      double middle = halved < high ? halved : low; // neighbours may round up
      if (search.keepsUp(middle)) {
        high = search.below();
      } else if (search.stopped()) {
        break;
      } else {
        low = search.above();
      }
    }
    List<PlacedPattern.Placed> stages = search.stages();
    var pattern = discipline.pattern(PlacedPattern.loads(problem.chain(), stages), high);
    PlacedPattern plan = new PlacedPattern(discipline, stages, pattern);
    return plan.secondsPerBatch() < secondsPerBatch ? Optional.of(plan) : Optional.empty();
  }

  /** The best among 1F1B* and all that drop batches: the trade of throughput for memory (§5.2). */
  public static Optional<PlacedPattern> plan(PeriodicProblem problem) {
    Optional<PlacedPattern> best = plan(problem, new Star());
    Optional<PlacedPattern> dropping =
        dropping(
            problem,
            best.map(PlacedPattern::secondsPerBatch).orElse(Double.POSITIVE_INFINITY),
            () -> false);
    return dropping.isPresent() ? dropping : best;
  }

  /**
   * The best that drops every so many-th batch, of all k that do not merely drop: with more than
   * there are groups nothing is saved.
   *
   * @param secondsPerBatch that it has to take less than
   * @param stop asked now and then; true ends the search with the best so far
   */
  static Optional<PlacedPattern> dropping(
      PeriodicProblem problem, double secondsPerBatch, BooleanSupplier stop) {
    Optional<PlacedPattern> best = Optional.empty();
    int stages = Math.min(problem.devices(), problem.chain().layers());
    double bound = secondsPerBatch;
    int most = Math.max(1, 2 * stages - 2);
    for (int batches = most; batches >= 1 && !stop.getAsBoolean(); batches--) {
      Optional<PlacedPattern> one = plan(problem, new Dropping(batches), bound, stop);
      if (one.isPresent()) {
        best = one;
        bound = one.get().secondsPerBatch();
      }
    }
    return best;
  }

  /** One batch after the other through all layers and cuts: long enough for any groups. */
  private static double inARow(PeriodicProblem problem) {
    LayerChain chain = problem.chain();
    double seconds = chain.seconds(0, chain.layers());
    if (problem.recomputation() != Recomputation.NEVER) {
      seconds += chain.stage(0, chain.layers()).forwardSeconds();
    }
    for (int cut = 1; cut < chain.layers(); cut++) {
      seconds += chain.cutSeconds(cut);
    }
    return seconds * (1 + 1e-9); // sums are rounded in other orders
  }
}

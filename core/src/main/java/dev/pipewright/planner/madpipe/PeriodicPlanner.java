package dev.pipewright.planner.madpipe;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.SteadyRequest;
import dev.pipewright.schedule.periodic.Discipline.Dropping;
import dev.pipewright.schedule.periodic.Discipline.OneForwardOneBackward;
import dev.pipewright.schedule.periodic.Discipline.Star;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The fastest plan within memory of all kinds: one stage per device by 1F1B, by 1F1B* and with
 * batches dropped, and devices with several stages.
 *
 * <p>Papers: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, and
 * <i>MadPipe</i>, hal-03025305. The first three are optima of their kind, the last is a heuristic.
 */
public final class PeriodicPlanner {
  private static final int MOST_DROPPED = 2; // of every three batches one, or of every two

  private PeriodicPlanner() {}

  /**
   * Plans for a priced network and cluster.
   *
   * @param request with the samples of a mini-batch
   */
  public static PeriodicPlanning plan(
      StageCosts costs, SteadyRequest request, BooleanSupplier stop) {
    return plan(
        PeriodicProblem.of(costs, request.batch().orElseThrow())
            .recomputing(request.recomputation())
            .withStages(request.stages()),
        stop);
  }

  /**
   * Plans.
   *
   * @param stop asked now and then; true ends the search with the best so far
   * @throws SearchStoppedException when nothing is found by then
   */
  public static PeriodicPlanning plan(PeriodicProblem problem, BooleanSupplier stop) {
    boolean[] stopped = {false};
    BooleanSupplier asked = () -> stopped[0] |= stop.getAsBoolean();
    double bound = Double.POSITIVE_INFINITY;
    Optional<PlacedPattern> star = ContiguousPlanner.plan(problem, new Star(), bound, asked);
    Optional<PlacedPattern> plain =
        ContiguousPlanner.plan(problem, new OneForwardOneBackward(), bound, asked);
    bound = seconds(star, bound);
    Optional<PlacedPattern> dropping = ContiguousPlanner.dropping(problem, bound, asked);
    bound = seconds(dropping, bound);
    Optional<PlacedPattern> general = MadPipe.plan(problem, new Star(), bound, asked);
    for (int batches = MOST_DROPPED; batches >= 1; batches--) {
      bound = seconds(general, bound);
      Optional<PlacedPattern> other = MadPipe.plan(problem, new Dropping(batches), bound, asked);
      general = other.isPresent() ? other : general;
    }
    if (stopped[0] && Stream.of(plain, star, dropping, general).allMatch(Optional::isEmpty)) {
      throw new SearchStoppedException();
    }
    return new PeriodicPlanning(
        problem, plain, star, dropping, general, PeriodBounds.all(problem), !stopped[0]);
  }

  private static double seconds(Optional<PlacedPattern> plan, double otherwise) {
    return plan.map(PlacedPattern::secondsPerBatch).orElse(otherwise);
  }
}

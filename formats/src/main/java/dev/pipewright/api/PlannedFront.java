package dev.pipewright.api;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.planner.ClusterSizes;
import dev.pipewright.planner.FrontSearch;
import dev.pipewright.planner.PlanFront;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.SearchStoppedException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * Plans that no other excels: every other that was priced takes longer, fills its fullest device
 * more, or needs more devices where these count.
 *
 * @param points of the fewest devices first where these count, and the fastest first; none where
 *     nothing fits
 * @param last what the planner answered in the first search on most devices
 * @param byDevices whether parts of the cluster were planned for, too
 * @param searches that were made
 * @param seconds that they took
 */
public record PlannedFront(
    List<Candidate> points, Planned last, boolean byDevices, int searches, double seconds) {
  /** Memory falls by a tenth from search to search at least: from all of it to a fifth. */
  private static final FrontSearch.Steps STEPS = new FrontSearch.Steps(0.1, 16);

  public PlannedFront {
    points = List.copyOf(points);
  }

  /**
   * Plans under falling memory limits.
   *
   * @param sizes whether parts of the cluster are planned for, too
   * @param stop from the first {@code true} on the front so far counts
   * @throws SearchStoppedException where it is stopped before there is a plan
   */
  static PlannedFront of(Problem problem, String planner, boolean sizes, BooleanSupplier stop) {
    long start = System.nanoTime();
    int all = problem.cluster().size();
    List<Candidate> found = new ArrayList<>();
    AtomicReference<Planned> last = new AtomicReference<>();
    int searches = 0;
    for (int devices : sizes ? ClusterSizes.some(problem.cluster()) : List.of(all)) {
      if (stop.getAsBoolean() && !found.isEmpty()) {
        break;
      }
      Problem part = devices == all ? problem : problem.onFirst(devices);
      Costed costed = part.costed();
      boolean needless =
          devices < part.step().stages().orElse(1)
              || ClusterSizes.impossible(
                      costed.costs(),
                      part.step().globalBatch(),
                      part.costModel(),
                      OptionalDouble.empty())
                  .isPresent();
      if (needless && devices < all) {
        continue;
      }
      try {
        FrontSearch.Result result = search(part, costed, planner, last, stop);
        found.addAll(result.plans());
        searches += result.searches();
      } catch (SearchStoppedException e) {
        if (found.isEmpty()) {
          throw e;
        }
        break;
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new PlannedFront(PlanFront.of(found, sizes), last.get(), sizes, searches, seconds);
  }

  private static FrontSearch.Result search(
      Problem part,
      Costed costed,
      String planner,
      AtomicReference<Planned> last,
      BooleanSupplier stop) {
    StageCosts costs = costed.costs();
    Oracle estimates = part.costModel().oracle(costs, part.step().globalBatch());
    return FrontSearch.of(
        costs,
        estimates,
        Planners.decider(costs),
        limited -> {
          Planned planned = Planners.plan(part, () -> with(costed, limited), planner, stop);
          if (limited == costs) {
            last.set(planned);
          }
          return planned.planning();
        },
        STEPS,
        stop);
  }

  private static Costed with(Costed costed, StageCosts limited) {
    return new Costed(
        costed.model(),
        costed.cluster(),
        limited,
        costed.memory(),
        costed.usualSlice(),
        costed.samplesPerEpoch(),
        costed.sequence());
  }
}

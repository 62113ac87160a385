package dev.pipewright.api;

import dev.pipewright.cost.CostModel;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.planner.ClusterSizes;
import dev.pipewright.planner.LowerBounds;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;

/**
 * How many devices of a cluster to use: the fewest that do, or those on which a step costs least. A
 * size is the first so many devices; powers of two within a machine and whole machines are tried.
 *
 * @param trials by size, ascending; of {@link #smallest} up to the first that does
 * @param chosen the size that is the answer; empty where no size is
 */
public record Sizing(List<Trial> trials, Optional<Trial> chosen) {
  /**
   * One size.
   *
   * @param planned the answer of the planner; empty where a bound made it needless
   * @param failure why it does not do, in words; empty where it does
   */
  public record Trial(int devices, Optional<Planned> planned, String failure) {
    /** Whether it does what was asked for. */
    public boolean succeeds() {
      return failure.isEmpty();
    }

    /** Seconds of a step on it; empty without a plan. */
    public OptionalDouble stepSeconds() {
      return planned
          .flatMap(found -> found.planning().best())
          .map(best -> OptionalDouble.of(best.seconds()))
          .orElse(OptionalDouble.empty());
    }

    /** Seconds of a step times the devices that it takes; infinite without a plan. */
    public double deviceSeconds() {
      return planned
          .filter(Planned::isFound)
          .map(found -> found.planning().by(Objective.COST, found.planning().lowerBound()).value())
          .orElse(Double.POSITIVE_INFINITY);
    }

    /**
     * No plan on this size that needs more devices than the size before costs less: it takes at
     * least the seconds of any step on that many, and devices do all passes between them.
     *
     * @param fewest devices of such a plan
     */
    private LowerBound costBound(int fewest) {
      if (planned.isEmpty()) {
        return new LowerBound(Double.POSITIVE_INFINITY, "nothing fits");
      }
      Planned found = planned.get();
      LowerBound step = found.planning().lowerBound();
      LowerBound steps =
          new LowerBound(
              fewest * step.value(),
              "at least %d of %d devices for a step of %s: %s"
                  .formatted(fewest, devices, Units.seconds(step.value()), step.why()));
      if (found.request().costModel() != CostModel.PIPEWRIGHT) {
        return steps;
      }
      double passes =
          LowerBounds.deviceSeconds(found.costed().costs(), found.request().globalBatch());
      return passes > steps.value()
          ? new LowerBound(passes, "all passes at the pace of the fastest device")
          : steps;
    }

    private Trial byCost(LowerBound bound) {
      return new Trial(
          devices,
          planned.map(found ->
              new Planned(
                  found.planner(),
                  found.costed(),
                  found.request(),
                  found.schedule(),
                  found.planning().by(Objective.COST, bound),
                  found.searchSeconds())),
          failure);
    }
  }

  public Sizing {
    trials = List.copyOf(trials);
  }

  /**
   * The size before the chosen one, or the largest where none is chosen; empty where there is none.
   */
  public Optional<Trial> nextSmaller() {
    int end = chosen.map(trials::indexOf).orElse(trials.size());
    return end == 0 ? Optional.empty() : Optional.of(trials.get(end - 1));
  }

  /**
   * The fewest devices on which the network fits, and whose step is no longer than a target.
   *
   * @param planner that plans each size
   * @param targetSeconds of a step; any will do where empty
   * @param stop as for {@link Planners#plan(Problem, String, BooleanSupplier)}
   * @throws SearchStoppedException where it is stopped before an answer
   */
  public static Sizing smallest(
      Problem problem, String planner, OptionalDouble targetSeconds, BooleanSupplier stop) {
    Search search = new Search(problem, planner, targetSeconds, stop);
    List<Trial> trials = new ArrayList<>();
    for (int devices : search.sizes(ClusterSizes.all(problem.cluster()))) {
      Trial trial = search.trial(devices);
      trials.add(trial);
      if (trial.succeeds()) {
        return new Sizing(trials, Optional.of(trial));
      }
      if (stop.getAsBoolean()) {
        throw new SearchStoppedException();
      }
    }
    return new Sizing(trials, Optional.empty());
  }

  /**
   * The size of which a step costs least: seconds of a step times the devices that it takes. Its
   * candidates and its bound are by that {@linkplain Objective#COST objective}.
   *
   * @param stop from the first {@code true} on the cheapest so far counts
   * @throws SearchStoppedException where it is stopped before there is a plan
   */
  public static Sizing cheapest(Problem problem, String planner, BooleanSupplier stop) {
    Search search = new Search(problem, planner, OptionalDouble.empty(), stop);
    List<Trial> trials = new ArrayList<>();
    Optional<Trial> best = Optional.empty();
    LowerBound bound = new LowerBound(Double.POSITIVE_INFINITY, "nothing fits");
    int before = 0;
    for (int devices : search.sizes(ClusterSizes.some(problem.cluster()))) {
      if (stop.getAsBoolean() && best.isPresent()) {
        break;
      }
      Trial trial;
      try {
        trial = search.trial(devices);
      } catch (SearchStoppedException e) {
        if (best.isEmpty()) {
          throw e;
        }
        break;
      }
      trials.add(trial);
      LowerBound own = trial.costBound(before + 1);
      bound = own.value() < bound.value() ? own : bound;
      before = devices;
      if (trial.deviceSeconds() < best.map(Trial::deviceSeconds).orElse(Double.MAX_VALUE)) {
        best = Optional.of(trial);
      }
    }
    LowerBound least = bound;
    return new Sizing(trials, best.map(trial -> trial.byCost(least)));
  }

  /** What is the same for all sizes. */
  private record Search(
      Problem problem, String planner, OptionalDouble targetSeconds, BooleanSupplier stop) {
    /** Those that have a device for each stage that is asked for. */
    List<Integer> sizes(List<Integer> all) {
      int least = problem.step().stages().orElse(1);
      List<Integer> sizes = all.stream().filter(size -> size >= least).toList();
      return sizes.isEmpty() ? all.subList(all.size() - 1, all.size()) : sizes;
    }

    /** Plans a size, where no bound shows that it cannot do; the whole cluster in any case. */
    Trial trial(int devices) {
      Problem part = problem.onFirst(devices);
      Costed costed = part.costed();
      boolean whole = devices == problem.cluster().size();
      Optional<String> impossible =
          whole
              ? Optional.empty()
              : ClusterSizes.impossible(
                  costed.costs(), part.step().globalBatch(), part.costModel(), targetSeconds);
      if (impossible.isPresent()) {
        return new Trial(devices, Optional.empty(), impossible.get());
      }
      Planned planned = Planners.plan(part, () -> costed, planner, stop);
      return new Trial(devices, Optional.of(planned), failure(planned));
    }

    private String failure(Planned planned) {
      if (!planned.isFound()) {
        return "nothing fits: " + planned.reason().orElse("");
      }
      double step = planned.planning().best().orElseThrow().seconds();
      return targetSeconds.isPresent() && step > targetSeconds.getAsDouble()
          ? "its fastest step takes " + Units.seconds(step)
          : "";
    }
  }
}

package dev.pipewright.planner.placement;

import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.PlannerFlag;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * How to search for a placement.
 *
 * @param linearize whether to cut one order of the operators only, not the graph: fast whatever the
 *     graph, but not always the best
 * @param apart whether a device may hold operators that are not contiguous
 * @param mostIdeals that are searched; more are refused
 * @param seed of the local search
 * @param stop says when to stop and return the best so far
 */
public record PlacementRequest(
    boolean linearize, boolean apart, int mostIdeals, long seed, BooleanSupplier stop) {
  private static final PlannerFlag LINEARIZE =
      PlannerFlag.of(
          "--linearize", "cut one order of the operators only, where there are too many.");

  private static final PlannerFlag NON_CONTIGUOUS =
      PlannerFlag.of(
          "--non-contiguous", "a device may hold operators that do not follow each other.");

  /** The flags from which {@link #of} makes a request. */
  public static final List<PlannerFlag> FLAGS = List.of(LINEARIZE, NON_CONTIGUOUS);

  /** As many as are searched by default: some hundred megabytes. */
  public static final int MOST_IDEALS = 500_000;

  public PlacementRequest {
    Check.that(mostIdeals >= 1, "a number of ideals: mostIdeals=%d", mostIdeals);
  }

  /** What the flags ask for, until {@code stop} says so. */
  public static PlacementRequest of(FlagValues flags, BooleanSupplier stop) {
    return new PlacementRequest(
        flags.has(LINEARIZE), flags.has(NON_CONTIGUOUS), MOST_IDEALS, 1, stop);
  }

  /** The contiguous optimum, for as long as it takes. */
  public static PlacementRequest contiguous() {
    return new PlacementRequest(false, false, MOST_IDEALS, 1, () -> false);
  }

  public PlacementRequest linearized() {
    return new PlacementRequest(true, apart, mostIdeals, seed, stop);
  }

  public PlacementRequest nonContiguous() {
    return new PlacementRequest(linearize, true, mostIdeals, seed, stop);
  }

  public PlacementRequest until(BooleanSupplier other) {
    return new PlacementRequest(linearize, apart, mostIdeals, seed, other);
  }

  public PlacementRequest atMost(int ideals) {
    return new PlacementRequest(linearize, apart, ideals, seed, stop);
  }
}

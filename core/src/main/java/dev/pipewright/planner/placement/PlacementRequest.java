package dev.pipewright.planner.placement;

import dev.pipewright.units.Check;
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
  /** As many as are searched if nobody says otherwise: some hundred megabytes. */
  public static final int MOST_IDEALS = 500_000;

  public PlacementRequest {
    Check.that(mostIdeals >= 1, "a number of ideals: mostIdeals=%d", mostIdeals);
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

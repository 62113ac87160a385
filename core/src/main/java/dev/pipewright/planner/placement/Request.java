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
public record Request(
    boolean linearize, boolean apart, int mostIdeals, long seed, BooleanSupplier stop) {
  /** As many as are searched if nobody says otherwise: some hundred megabytes. */
  public static final int MOST_IDEALS = 500_000;

  public Request {
    Check.that(mostIdeals >= 1, "a number of ideals: mostIdeals=%d", mostIdeals);
  }

  /** The contiguous optimum, for as long as it takes. */
  public static Request contiguous() {
    return new Request(false, false, MOST_IDEALS, 1, () -> false);
  }

  public Request linearized() {
    return new Request(true, apart, mostIdeals, seed, stop);
  }

  public Request nonContiguous() {
    return new Request(linearize, true, mostIdeals, seed, stop);
  }

  public Request until(BooleanSupplier other) {
    return new Request(linearize, apart, mostIdeals, seed, other);
  }

  public Request atMost(int ideals) {
    return new Request(linearize, apart, ideals, seed, stop);
  }
}

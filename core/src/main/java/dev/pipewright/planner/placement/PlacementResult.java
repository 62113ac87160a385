package dev.pipewright.planner.placement;

import dev.pipewright.planner.Planning.LowerBound;
import java.util.List;
import java.util.OptionalInt;

/** What the planner says. */
public sealed interface PlacementResult {
  /**
   * A placement.
   *
   * @param best placement
   * @param bound that no placement of the kind that was asked for is below
   * @param proven whether none of that kind is better
   * @param searched what was searched, in words
   * @param binding what keeps the largest load from being smaller, in words
   * @param ideals that were searched; 0 where the graph was not
   * @param pairs of ideals that were looked at
   * @param alternatives other placements, best first
   */
  record Placed(
      OperatorPlacement best,
      LowerBound bound,
      boolean proven,
      String searched,
      String binding,
      int ideals,
      long pairs,
      List<Alternative> alternatives)
      implements PlacementResult {
    public Placed {
      alternatives = List.copyOf(alternatives);
    }

    /** How far the best may be above the optimum, as a share of the bound. */
    public double gap() {
      return proven ? 0 : Math.max(0, bound.gap(best.maxLoad()));
    }
  }

  /** Another placement: what kind, and its largest load. */
  record Alternative(String kind, double maxLoad) {}

  /**
   * Nothing fits.
   *
   * @param leastBytes of each accelerator with which something would; infinite where no memory does
   * @param leastAccelerators with which something would; none where no number of them does
   * @param unsupported an operator that no device can run, as its place; −1 where there is none
   */
  record NoRoom(double leastBytes, OptionalInt leastAccelerators, int unsupported)
      implements PlacementResult {}

  /**
   * There are more ideals than may be searched.
   *
   * @param mostIdeals that may be searched
   * @param groups of operators that share a device
   */
  record TooBroad(int mostIdeals, int groups) implements PlacementResult {}

  /** Told to stop before anything was found that fits. */
  record Unfinished(LowerBound bound) implements PlacementResult {}
}

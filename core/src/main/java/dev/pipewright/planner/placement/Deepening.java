package dev.pipewright.planner.placement;

import java.util.Optional;

/**
 * Raises the ceiling of a search until there is a placement below it, which is the best then. A low
 * ceiling is passed quickly, and where nothing is below it, it is a lower bound.
 */
final class Deepening {
  private static final double FIRST = 1.0 / 16; // of the lower bound, where nothing is known above
  private static final double PART = 1.0 / 32; // of the gap, where something is

  private final ContiguousPlacement search;
  private double bound;
  private Optional<Stages> best = Optional.empty();
  private boolean finished;

  private Deepening(ContiguousPlacement search, double bound) {
    this.search = search;
    this.bound = bound;
  }

  /**
   * Searches for the best placement.
   *
   * @param bound that none is below
   * @param known largest load of a placement that is there; infinite where none is
   * @param most that no placement is above
   */
  static Deepening of(ContiguousPlacement search, double bound, double known, double most) {
    Deepening deepening = new Deepening(search, bound);
    if (known < Double.POSITIVE_INFINITY) {
      deepening.below(known);
    } else {
      deepening.upTo(most);
    }
    return deepening;
  }

  /** Better ones than one that is there. */
  private void below(double known) {
    double better = known * (1 - 1e-12);
    if (better <= bound) {
      finished = true;
      return;
    }
    double gap = better - bound;
    double from = bound;
    for (double part = PART; part < 1; part *= 2) {
      if (under(from + part * gap)) {
        return;
      }
    }
    if (!under(better)) {
      bound = known;
    }
  }

  private void upTo(double most) {
    double step = FIRST * Math.max(bound, most * 1e-9);
    double from = bound;
    for (double ceiling = from + step; ceiling < most; ceiling = from + step) {
      if (under(ceiling) || search.stopped()) {
        return;
      }
      step *= 2;
    }
    under(most);
  }

  private boolean under(double ceiling) {
    best = search.search(ceiling);
    finished = !search.stopped();
    if (best.isEmpty() && finished) {
      bound = Math.max(bound, ceiling);
    }
    return best.isPresent() || search.stopped();
  }

  /** The best below what was known; none where there is none. */
  Optional<Stages> best() {
    return best;
  }

  /** Whether nothing is better than {@link #best}, or than what was known where that is empty. */
  boolean proven() {
    return finished;
  }

  /** No placement of those searched is below. */
  double bound() {
    return bound;
  }
}

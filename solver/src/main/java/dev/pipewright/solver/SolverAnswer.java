package dev.pipewright.solver;

/** What a search found, and what it proved. */
public sealed interface SolverAnswer<T> {
  /**
   * A solution.
   *
   * @param value of the best that was found: seconds, or activations where those are counted
   * @param bound that no solution is below
   * @param optimal whether no solution is better: proven, not presumed
   */
  record Found<T>(T best, double value, double bound, boolean optimal) implements SolverAnswer<T> {
    @Override
    public String toString() {
      return optimal
          ? "%s, the optimum".formatted(value)
          : "%s, at best %s: the search was cut short".formatted(value, bound);
    }
  }

  /** There is no solution: proven, too. */
  record Impossible<T>() implements SolverAnswer<T> {
    @Override
    public String toString() {
      return "no solution exists";
    }
  }

  /**
   * Neither a solution nor a proof that there is none.
   *
   * @param bound that no solution is below
   */
  record Unknown<T>(double bound) implements SolverAnswer<T> {
    @Override
    public String toString() {
      return "no solution was found before the search was cut short; try a longer limit";
    }
  }
}

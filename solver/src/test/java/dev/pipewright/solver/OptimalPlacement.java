package dev.pipewright.solver;

import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorPlacement;
import java.util.Optional;

/**
 * Operators on accelerators and processors, any on any, so that the busiest device is as little
 * busy as possible, and the proof that none is better.
 *
 * <p>Paper: J. Tarnawski et al., <i>Efficient Algorithms for Device Placement of DNN Graph
 * Operators</i>, NeurIPS 2020, §4: their integer program without contiguity, which they give to
 * Gurobi to within 1 %. Exponential: for some dozens of groups of operators that share a device.
 */
public final class OptimalPlacement {
  private OptimalPlacement() {}

  /**
   * The best placement; the answer's value is its largest load. What is proven is that none is
   * better by a billionth of all work.
   *
   * @param known a placement to start from; none is looked for that is worse
   */
  public static SolverAnswer<OperatorPlacement> of(
      OperatorGraph graph, Optional<OperatorPlacement> known, SearchLimit limit) {
    Search.load();
    PlacementModel model = new PlacementModel(graph, known);
    Search search = Search.run(model.model(), limit);
    double bound = search.impossible() ? 0 : Math.max(0, search.bound() * model.tick());
    if (search.found()) {
      OperatorPlacement best = model.placement(search.values());
      if (known.isPresent() && known.get().maxLoad() <= best.maxLoad()) {
        best = known.get();
      }
      double value = best.maxLoad();
      boolean optimal = search.complete();
      return new SolverAnswer.Found<>(
          best, value, optimal ? value : Math.min(bound, value), optimal);
    }
    if (search.impossible()) {
      return new SolverAnswer.Impossible<>();
    }
    return known.isPresent()
        ? new SolverAnswer.Found<>(known.get(), known.get().maxLoad(), bound, false)
        : new SolverAnswer.Unknown<>(bound);
  }
}

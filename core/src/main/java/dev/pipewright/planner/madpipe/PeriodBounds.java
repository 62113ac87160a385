package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Seconds per batch that no plan and no schedule is below, and why.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, theorem 5, for
 * the work; the bound of memory is ours. A batch is at a layer from the start of its forward pass
 * until it has gone to the end of the chain and come back, so with T seconds between batches the
 * layer holds that long over T batches on average, and some time at least as many, rounded up. All
 * that is held has to fit into all memory. Where layers may run again nothing of them need be held.
 */
public final class PeriodBounds {
  private PeriodBounds() {}

  /** All bounds, the highest first. */
  public static List<LowerBound> all(PeriodicProblem problem) {
    List<LowerBound> bounds = new ArrayList<>(List.of(work(problem), memory(problem)));
    bounds.add(communication(problem));
    bounds.sort(Comparator.comparingDouble(LowerBound::value).reversed());
    return bounds;
  }

  /** What the devices compute, or the slowest layer. */
  static LowerBound work(PeriodicProblem problem) {
    LayerChain chain = problem.chain();
    double work = chain.seconds(0, chain.layers()) / problem.devices();
    int slowest = 0;
    for (int layer = 1; layer < chain.layers(); layer++) {
      slowest = ofLayer(chain, layer) > ofLayer(chain, slowest) ? layer : slowest;
    }
    double layer = ofLayer(chain, slowest);
    return layer > work
        ? new LowerBound(layer, "layer " + slowest + " on one device")
        : new LowerBound(work, "work / devices");
  }

  private static double ofLayer(LayerChain chain, int layer) {
    return chain.seconds(layer, layer + 1);
  }

  /** The shortest period for which the least memory fits; infinite where none does. */
  static LowerBound memory(PeriodicProblem problem) {
    String why = "activations that batches on their way hold / memory";
    if (!holds(problem, Double.POSITIVE_INFINITY)) {
      return new LowerBound(Double.POSITIVE_INFINITY, "state and one batch exceed all memory");
    }
    double high = problem.chain().seconds(0, problem.chain().layers()) * (1 + 1e-12);
    double low = 0;
    for (int i = 0; i < 60; i++) {
      double middle = (low + high) / 2;
      if (holds(problem, middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return new LowerBound(low, why);
  }

  private static boolean holds(PeriodicProblem problem, double period) {
    LayerChain chain = problem.chain();
    boolean keeps = problem.recomputation() == Recomputation.NEVER;
    double all = 0;
    for (int layer = 0; layer < chain.layers(); layer++) {
      double there = chain.seconds(layer, chain.layers());
      double held = Math.max(1, Math.ceil(there / period * (1 - 1e-12)));
      double kept = keeps ? chain.keptBytes(layer) : 0;
      double bytes = chain.stateBytes(layer, layer + 1) + (kept > 0 ? held * kept : 0);
      if (bytes > problem.capacityBytes()) {
        return false;
      }
      all += bytes;
    }
    return all <= problem.capacityBytes() * problem.devices() * (1 + 1e-12);
  }

  /** All on one device where that is possible, or transfers through some cut. */
  static LowerBound communication(PeriodicProblem problem) {
    LayerChain chain = problem.chain();
    double cut = Double.POSITIVE_INFINITY;
    for (int place = 1; place < chain.layers(); place++) {
      cut = Math.min(cut, chain.cutSeconds(place));
    }
    double alone = chain.seconds(0, chain.layers());
    return cut < alone
        ? new LowerBound(cut, "the transfers through the cut that takes least")
        : new LowerBound(alone, "one device: every cut takes longer than all layers");
  }
}

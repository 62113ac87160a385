package dev.pipewright.planner.recompute;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.plan.LayerRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** All ways to choose runs of layers that are computed again, one by one: the referee. */
public final class EveryChoice {
  private EveryChoice() {}

  /** Visits each choice for so many layers; the list is one and the same. */
  public static void of(int layers, Consumer<List<LayerRange>> visit) {
    extend(layers, 0, new ArrayList<>(), visit);
  }

  private static void extend(
      int layers, int layer, List<LayerRange> again, Consumer<List<LayerRange>> visit) {
    if (layer == layers) {
      visit.accept(again);
      return;
    }
    extend(layers, layer + 1, again, visit);
    for (int last = layer; last < layers; last++) {
      again.add(new LayerRange(layer, last));
      extend(layers, last + 1, again, visit);
      again.remove(again.size() - 1);
    }
  }

  /** The least extra seconds with which so many micro-batches fit. */
  static double leastSeconds(LayerCosts costs, int inFlight, double bytes) {
    double[] least = {Double.POSITIVE_INFINITY};
    of(
        costs.size(),
        again -> {
          PartlyKept priced = PartlyKept.of(costs, again);
          if (priced.peakBytes(inFlight) <= bytes * (1 + 1e-12)) {
            least[0] = Math.min(least[0], priced.extraSeconds());
          }
        });
    return least[0];
  }

  static double leastBytes(LayerCosts costs, int inFlight) {
    double[] least = {Double.POSITIVE_INFINITY};
    of(
        costs.size(),
        again -> least[0] = Math.min(least[0], PartlyKept.of(costs, again).peakBytes(inFlight)));
    return least[0];
  }
}

package dev.pipewright.cost;

import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.profile.DividedLayers;
import java.util.List;
import java.util.Optional;

/**
 * Seconds that tensor-parallel groups of a stage exchange during the passes over a micro-batch, as
 * far as computing does not hide them.
 *
 * @param forward cumulative by end of positions: read only
 * @param backward likewise
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StageExchanges(double[] forward, double[] backward) {
  /**
   * Of some exchanges.
   *
   * @param costs of the layers, as one device computes them
   * @param times of the same workload
   * @param split of the layers
   * @param slice samples of the largest slice
   */
  public static StageExchanges of(
      StageCosts costs,
      PartTimes times,
      StageGroups groups,
      List<GroupExchange> exchanges,
      Parallelism split,
      int slice) {
    ExchangeSeconds seconds =
        new ExchangeSeconds(
            times,
            groups.tensor(),
            groups.betweenCopies(),
            costs.workload().profile().precision(),
            split);
    int layers = costs.workload().chain().graph().size();
    double[] forward = new double[layers];
    double[] backward = new double[layers];
    Optional<DividedLayers> divided = // knows of groups that divide features
        costs.workload().profile().divided().filter(known -> split.dividesFeatures());
    double exposedForward = divided.map(DividedLayers::exposedForward).orElse(1.0);
    double exposedBackward = divided.map(DividedLayers::exposedBackward).orElse(1.0);
    for (GroupExchange each : exchanges) {
      double ofCopy = each.forward() ? exposedForward : exposedBackward;
      double exposed = each.betweenCopies() ? 1 : ofCopy;
      (each.forward() ? forward : backward)[each.layer()] += exposed * seconds.of(each, slice);
    }
    return new StageExchanges(costs.cumulative(forward), costs.cumulative(backward));
  }

  /** Of the forward pass of positions {@code first..end-1}. */
  public double forward(int first, int end) {
    return forward[end] - forward[first];
  }

  /** Of both passes. */
  double passes(int first, int end) {
    return forward(first, end) + backward(first, end);
  }

  /** Of their backward pass. */
  public double backward(int first, int end) {
    return backward[end] - backward[first];
  }
}

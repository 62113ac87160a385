package dev.pipewright.predict.run;

import dev.pipewright.cost.ExchangeSeconds;
import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Seconds of the exchanges within the tensor-parallel groups of a stage, for the largest slice of a
 * micro-batch.
 */
final class GroupExchangeSeconds {
  private final Workload workload;
  private final List<GroupExchange> exchanges;
  private final ExchangeSeconds seconds;
  private final int samples;

  /**
   * @param alike whether all stages divide layers like it
   * @param groups its devices
   * @param samples of the slice
   */
  GroupExchangeSeconds(
      Workload workload, StageLayers stage, boolean alike, StageGroups groups, int samples) {
    this.workload = workload;
    this.exchanges = GroupExchanges.of(workload.chain(), stage.range(), stage.split(), alike);
    this.seconds =
        new ExchangeSeconds(
            new PartTimes(workload),
            groups.tensor(),
            groups.betweenCopies(),
            workload.profile().precision(),
            stage.split());
    this.samples = samples;
  }

  /** In a forward or a backward pass. */
  double seconds(boolean forward) {
    return exchanges.stream()
        .filter(each -> each.forward() == forward)
        .mapToDouble(each -> seconds.of(each, samples))
        .sum();
  }

  /** In the forward passes of some layers. */
  double forward(LayerRange range) {
    Set<Integer> layers =
        Arrays.stream(workload.chain().layers(range.first() - 1, range.last()))
            .boxed()
            .collect(Collectors.toSet());
    return exchanges.stream()
        .filter(each -> each.forward() && layers.contains(each.layer()))
        .mapToDouble(each -> seconds.of(each, samples))
        .sum();
  }
}

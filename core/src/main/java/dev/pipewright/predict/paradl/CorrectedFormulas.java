package dev.pipewright.predict.paradl;

import java.util.Optional;

/**
 * What implementations of the strategies do, layer by layer, where Table 3 of ParaDL splits
 * everything alike.
 *
 * <ul>
 *   <li>Filters and channels are split in products only; between them every device has the whole
 *       activation and normalises, pools and activates it like all others. What is exchanged is the
 *       output of a split layer (forward) and the gradient of its input (backward).
 *   <li>Positions are split in all layers that may be and have enough of them; where the next has
 *       too few or none (fully connected) the activation is gathered, and done by all alike.
 *   <li>The largest part sets the pace where extents do not divide; narrow parts fill a device
 *       badly.
 *   <li>Pipelines and divided transformer blocks are priced as plans ({@link PlanEstimate}).
 * </ul>
 */
final class CorrectedFormulas implements StrategyFormulas {
  private final ParadlNetwork network;
  private final Setting setting;
  private final GroupPlacement placement;
  private final PlanEstimate plans;

  CorrectedFormulas(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
    this.placement = GroupPlacement.achieved(network.workload().cluster());
    this.plans = new PlanEstimate(network, setting);
  }

  @Override
  public Optional<String> refusal(Layout layout, long globalBatch) {
    return layout.strategy().zeroStage() == 0
        ? plans.refusal(layout, globalBatch)
        : Optional.empty();
  }

  @Override
  public Phases phases(Layout layout, long globalBatch) {
    return layout.strategy().zeroStage() == 0
        ? plans.phases(layout, globalBatch)
        : split(layout, globalBatch).phases();
  }

  @Override
  public Estimate estimate(Layout layout, long globalBatch) {
    return layout.strategy().zeroStage() == 0
        ? plans.estimate(layout, globalBatch)
        : split(layout, globalBatch).estimate();
  }

  private SplitEstimate split(Layout layout, long globalBatch) {
    return new SplitEstimate(setting, SplitCase.of(network, layout, globalBatch), placement);
  }
}

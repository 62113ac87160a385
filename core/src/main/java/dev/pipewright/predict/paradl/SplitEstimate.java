package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Collectives;
import dev.pipewright.predict.paradl.Setting.Exchange;

/** Seconds and bytes of a strategy whose devices all work on all layers. */
final class SplitEstimate {
  private final Setting setting;
  private final SplitCase split;
  private final Collectives inside;
  private final Collectives across;
  private final GradientExchange exchange;
  private final double[] seconds;

  SplitEstimate(Setting setting, SplitCase split, GroupPlacement placement) {
    this.setting = setting;
    this.split = split;
    this.inside = placement.insideGroups(split.layout());
    this.across = placement.acrossGroups(split.layout());
    this.exchange = new GradientExchange(split, placement);
    this.seconds = split.seconds();
  }

  Phases phases() {
    double compute = 0;
    double update = 0;
    double weights = 0;
    for (int layer = 0; layer < seconds.length; layer++) {
      compute += seconds[layer];
      update += split.network().updateSeconds(layer) * split.weightShare(layer);
      weights += split.weightBytes(layer);
    }
    Layout layout = split.layout();
    int zero = layout.strategy().zeroStage();
    Phases phases =
        Phases.none()
            .with(Phase.FORWARD_BACKWARD, compute)
            .with(Phase.WAITING, layout.devices() == 1 ? 0 : compute * waitingShare())
            .with(Phase.WEIGHT_UPDATE, zero > 0 ? update / layout.groups() : update)
            .with(Phase.LAYER_ALL_GATHER, zero == 3 ? across.ringAllGather(weights) : 0)
            .with(Phase.GRADIENT_EXCHANGE, exchange.seconds(setting.exchange()));
    return LayerMessages.added(phases, split, inside);
  }

  private double waitingShare() {
    return split.network().workload().cluster().software().waitingShare();
  }

  Estimate estimate() {
    MemoryUse memory = SplitMemory.of(split);
    return new Estimate(
        phases(),
        setting.memoryReuse().isPresent()
            ? memory.times(setting.memoryReuse().getAsDouble())
            : memory,
        Math.max(inside.contention(), across.contention()),
        redundantSeconds(),
        1,
        () -> exchange.seconds(Exchange.CHEAPEST));
  }

  /** What all devices of a group do alike. */
  private double redundantSeconds() {
    double redundant = 0;
    for (int layer = 0; layer < seconds.length; layer++) {
      boolean alike = split.layout().parts() > 1 && !split.share(layer).split();
      redundant += alike ? seconds[layer] : 0;
    }
    return redundant;
  }
}

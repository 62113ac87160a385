package dev.pipewright.predict.paradl;

import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Strategy.Split;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Names what holds a prediction back (ParaDL, Table 6), from its numbers. */
final class Findings {
  /** Shares of the iteration or of the memory below this are no bottleneck. */
  private static final double NOTABLE = 0.1;

  /** Share of the memory from which allocations begin to wait for each other. */
  private static final double NEARLY_FULL = 0.9;

  private final Predicted prediction;
  private final Estimate estimate;
  private final List<Finding> findings = new ArrayList<>();

  private Findings(Predicted prediction, Estimate estimate) {
    this.prediction = prediction;
    this.estimate = estimate;
  }

  /** The gravest first. */
  static List<Finding> of(Predicted prediction, Estimate estimate) {
    Findings all = new Findings(prediction, estimate);
    all.communication();
    all.memory();
    all.computation();
    all.scaling();
    return all.findings.stream()
        .sorted(Comparator.comparingDouble(Finding::number).reversed())
        .toList();
  }

  private double share(Phase... phases) {
    double sum = 0;
    for (Phase phase : phases) {
      sum += prediction.phases().seconds(phase);
    }
    double total = prediction.iterationSeconds();
    return total == 0 ? 0 : sum / total;
  }

  private void add(Bottleneck bottleneck, double number, String sentence, String help) {
    findings.add(new Finding(bottleneck, number, sentence, help));
  }

  private void communication() {
    double exchange = share(Phase.GRADIENT_EXCHANGE);
    if (exchange >= NOTABLE) {
      add(
          Bottleneck.GRADIENT_EXCHANGE,
          exchange,
          "summing gradients takes " + percent(exchange) + " of the iteration",
          exchangeHelp());
    }
    double layerWise = share(Phase.LAYER_ALL_GATHER, Phase.LAYER_ALL_REDUCE);
    if (layerWise >= NOTABLE) {
      boolean weights = prediction.strategy().zeroStage() == 3;
      add(
          Bottleneck.LAYER_WISE_COMMUNICATION,
          layerWise,
          "collectives in every layer take " + percent(layerWise) + " of the iteration",
          weights
              ? "keep the weights on every device (zero2) where memory allows"
              : prediction.strategy().dividesBlocks()
                  ? "a smaller degree of %s parallelism, or groups inside a node"
                      .formatted(divided())
                  : "split fewer layers, or keep groups inside a node");
    }
    double neighbours = share(Phase.HALO, Phase.POINT_TO_POINT);
    if (neighbours >= NOTABLE) {
      add(
          Bottleneck.POINT_TO_POINT,
          neighbours,
          "messages between neighbours take " + percent(neighbours) + " of the iteration",
          prediction.strategy().pipelined()
              ? "fewer, larger segments, or cuts where activations are small"
              : "exchange halos from device to device without the host, or split fewer layers");
    }
    if (estimate.contention() > 1) {
      double factor = estimate.contention();
      double slowed = share(Phase.GRADIENT_EXCHANGE) * (1 - 1 / factor);
      if (slowed >= NOTABLE / 2) {
        add(
            Bottleneck.CONGESTION,
            slowed,
            Units.fixed(factor, 1) + " collectives of the job share a port",
            "more network ports per node, or groups as large as a node's ports");
      }
    }
  }

  /** The kind of parallelism that divides blocks. */
  private String divided() {
    return switch (prediction.strategy().split()) {
      case TOKENS -> "context";
      case EXPERTS -> "expert";
      default -> "tensor";
    };
  }

  private String exchangeHelp() {
    double now = prediction.phases().seconds(Phase.GRADIENT_EXCHANGE);
    double best = estimate.cheapestExchangeSeconds().getAsDouble();
    return best < 0.9 * now
        ? "another algorithm (--all-reduce cheapest) sums in "
            + Units.seconds(best)
            + " instead of "
            + Units.seconds(now)
        : "more samples per device, overlap with the backward pass, or 16-bit gradients";
  }

  private void memory() {
    MemoryUse use = prediction.memory();
    double full = use.total() / prediction.capacity();
    if (full >= NEARLY_FULL) {
      String words = full > 1 ? " of the device's memory would be needed" : " of it is used";
      add(
          Bottleneck.MEMORY_STALLING,
          full,
          "memory: " + percent(full) + words,
          use.activations() > use.total() / 2
              ? fewerSamples()
              : "shard the training state (zero1 … zero3) or split the network");
    }
    double copies = copies();
    if (copies >= NOTABLE) {
      add(
          Bottleneck.MEMORY_REDUNDANCY,
          copies,
          percent(copies) + " of a device's memory holds what others hold too",
          prediction.strategy().split() == Split.FILTERS
                  || prediction.strategy().split() == Split.CHANNELS
              ? "activations are whole on every device of a group; split positions instead"
              : "shard weights, gradients and optimizer state (zero1 … zero3)");
    }
  }

  /** Activations and buffers grow with the samples; all else is there without any. */
  private String fewerSamples() {
    MemoryUse use = prediction.memory();
    double state = use.weights() + use.gradients() + use.optimizer();
    double room = (prediction.capacity() - state) / (use.activations() + use.buffers());
    if (estimate.plan().filter(plan -> plan.microBatches() > 1).isPresent()) {
      return "smaller micro-batches, recomputation (--recompute auto), or a larger degree of tensor parallelism";
    }
    double batch = Math.floor(Math.max(0, prediction.globalBatch() * room));
    return "fewer samples per iteration ("
        + Units.fixed(batch, 0)
        + " would fit), recomputation, or splitting the network";
  }

  /** The share of the capacity with bytes that another device has as well. */
  private double copies() {
    MemoryUse use = prediction.memory();
    Layout layout = prediction.layout();
    double state =
        switch (prediction.strategy().zeroStage()) {
          case 0 -> use.weights() + use.gradients() + use.optimizer();
          case 1 -> use.weights() + use.gradients();
          case 2 -> use.weights();
          default -> 0;
        };
    boolean copied = layout.groups() > 1 || layout.strategy().split() == Split.POSITIONS;
    double copies = copied && layout.devices() > 1 ? state : 0;
    boolean whole =
        layout.strategy().split() == Split.FILTERS || layout.strategy().split() == Split.CHANNELS;
    copies += whole && layout.parts() > 1 ? use.activations() : 0;
    return copies / prediction.capacity();
  }

  private void computation() {
    double update = share(Phase.WEIGHT_UPDATE);
    if (update >= NOTABLE) {
      add(
          Bottleneck.WEIGHT_UPDATE,
          update,
          "the optimizer's step takes " + percent(update) + " of the iteration",
          "shard the update (zero1), fuse its kernels, or take more samples per iteration");
    }
    double waiting = share(Phase.WAITING);
    if (estimate.imbalance() - 1 >= NOTABLE || waiting >= NOTABLE) {
      add(
          Bottleneck.WORKLOAD_BALANCE,
          Math.max(waiting, 1 - 1 / estimate.imbalance()),
          "the busiest stage works "
              + Units.fixed(estimate.imbalance(), 2)
              + " times the mean; devices wait "
              + percent(waiting)
              + " of the iteration",
          "more segments, or replicate the busiest stage (`pipewright plan`)");
    }
    double total = prediction.iterationSeconds();
    double redundant = total == 0 ? 0 : estimate.redundantSeconds() / total;
    if (redundant >= NOTABLE) {
      add(
          Bottleneck.COMPUTE_REDUNDANCY,
          redundant,
          "all devices of a group do the same for " + percent(redundant) + " of the iteration",
          prediction.strategy().split() == Split.POSITIONS
              ? "split more layers"
              : "split samples or positions, which normalisations and activations share");
    }
  }

  private void scaling() {
    for (ScalingLimit limit : prediction.limits()) {
      if (prediction.devices() * 2L > limit.devices() && prediction.devices() > 1) {
        add(
            Bottleneck.SCALING,
            0,
            "ends at " + limit.devices() + " devices: " + limit.why(),
            prediction.strategy().hybrid() ? "a larger batch" : "a hybrid with data parallelism");
      }
    }
  }

  private static String percent(double share) {
    return Units.fixed(100 * share, 0) + " %";
  }
}

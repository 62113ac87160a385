package dev.pipewright.bench.paradl;

import dev.pipewright.predict.paradl.BatchScaling;
import dev.pipewright.predict.paradl.Strategy;
import tools.jackson.databind.JsonNode;

/**
 * A measured iteration of ResNet-50 and what ParaDL's authors projected for it, read off a chart.
 *
 * @param seconds measured, ± {@code uncertainty}
 * @param computeSeconds the part of it that computes
 * @param projected the authors' projection, in seconds
 * @param accuracy of that projection: 1 − |projected − measured| / measured
 */
record MeasuredIteration(
    Strategy strategy,
    int devices,
    double seconds,
    double computeSeconds,
    double projected,
    double accuracy,
    double uncertainty) {
  private static final int NODE = 4;

  static MeasuredIteration of(JsonNode row) {
    return new MeasuredIteration(
        Strategy.find(row.path("strategy").asString()).orElseThrow(),
        row.path("gpus").asInt(),
        row.path("measured_total_s").asDouble(),
        row.path("measured_comp_s").asDouble(),
        row.path("model_total_s").asDouble(),
        row.path("accuracy").asDouble(),
        row.path("px_unc_s").asDouble());
  }

  /** How the runs were scaled: 64 samples for a device, for a node of a hybrid, or over all. */
  static BatchScaling batch(Strategy strategy) {
    return strategy.hybrid()
        ? BatchScaling.perDevice(64 / NODE)
        : strategy.replicates() ? BatchScaling.perDevice(64) : BatchScaling.global(64);
  }

  /** Samples of the iteration. */
  long samples() {
    return batch(strategy).on(devices);
  }

  double accuracyOf(double prediction) {
    return 1 - Math.abs(prediction - seconds) / seconds;
  }
}

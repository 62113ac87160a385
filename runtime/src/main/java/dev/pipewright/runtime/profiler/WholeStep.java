package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.PassSeconds;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What {@link WholeTask} has measured of a step on one worker.
 *
 * @param seconds of the step
 * @param ops medians of its ops
 * @param peakBytes that the worker held
 */
record WholeStep(Spread seconds, PassSeconds ops, long peakBytes) {
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * Without the first steps.
   *
   * @param text the task's event
   */
  static WholeStep parse(String text, int warmUp) {
    JsonNode answer = JSON.readTree(text);
    JsonNode steps = answer.get("seconds");
    JsonNode ops = answer.get("ops");
    double[] seconds = new double[steps.size() - warmUp];
    double[][] kinds = new double[3][seconds.length]; // forward, backward, update
    for (int i = 0; i < seconds.length; i++) {
      seconds[i] = steps.get(warmUp + i).asDouble();
      for (int kind = 0; kind < kinds.length; kind++) {
        kinds[kind][i] = ops.get(warmUp + i).get(kind).asDouble();
      }
    }
    return new WholeStep(
        Spread.of(seconds),
        new PassSeconds(
            Spread.of(kinds[0]).median(),
            Spread.of(kinds[1]).median(),
            Spread.of(kinds[2]).median()),
        answer.get("peak").asLong());
  }
}

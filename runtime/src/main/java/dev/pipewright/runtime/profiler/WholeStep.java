package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.PassSeconds;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.runtime.launch.Calmest;
import java.util.stream.IntStream;
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
   * Without the first steps, and of the others the calmest.
   *
   * @param text the task's event
   * @param microBatches of a step, two or more
   */
  static WholeStep parse(String text, int warmUp, int microBatches) {
    JsonNode answer = JSON.readTree(text);
    JsonNode steps = answer.get("seconds");
    JsonNode ops = answer.get("ops");
    int[] counted = Calmest.of(stolen(answer.get("stolen"), warmUp));
    double[] seconds = new double[counted.length];
    double[][] kinds = new double[4][counted.length]; // forward, backward, update, rest
    for (int i = 0; i < counted.length; i++) {
      int step = warmUp + counted[i];
      seconds[i] = steps.get(step).asDouble();
      kinds[0][i] = ops.get(step).get(0).asDouble() / (microBatches - 1);
      kinds[1][i] = ops.get(step).get(1).asDouble() / (microBatches - 1);
      kinds[2][i] = ops.get(step).get(2).asDouble();
      kinds[3][i] = seconds[i] - microBatches * (kinds[0][i] + kinds[1][i]) - kinds[2][i];
    }
    return new WholeStep(
        Spread.of(seconds),
        new PassSeconds(
            Spread.of(kinds[0]).median(),
            Spread.of(kinds[1]).median(),
            Spread.of(kinds[2]).median(),
            Spread.of(kinds[3]).median()),
        answer.get("peak").asLong());
  }

  private static long[] stolen(JsonNode steps, int warmUp) {
    return IntStream.range(warmUp, steps.size()).mapToLong(i -> steps.get(i).asLong()).toArray();
  }
}

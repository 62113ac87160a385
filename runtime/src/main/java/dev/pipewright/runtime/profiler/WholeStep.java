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
   */
  static WholeStep parse(String text, int warmUp) {
    JsonNode answer = JSON.readTree(text);
    JsonNode steps = answer.get("seconds");
    JsonNode ops = answer.get("ops");
    int[] counted = Calmest.of(stolen(answer.get("stolen"), warmUp));
    double[] seconds = new double[counted.length];
    double[][] kinds = new double[3][counted.length]; // forward, backward, update
    for (int i = 0; i < counted.length; i++) {
      int step = warmUp + counted[i];
      seconds[i] = steps.get(step).asDouble();
      for (int kind = 0; kind < kinds.length; kind++) {
        kinds[kind][i] = ops.get(step).get(kind).asDouble();
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

  private static long[] stolen(JsonNode steps, int warmUp) {
    return IntStream.range(warmUp, steps.size()).mapToLong(i -> steps.get(i).asLong()).toArray();
  }
}

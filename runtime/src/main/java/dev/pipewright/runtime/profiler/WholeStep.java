package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.PassSeconds;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.runtime.launch.Calmest;
import java.util.Arrays;
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

  /** The steps of a task that count, the calmest behind the first ones. */
  private record Counted(JsonNode answer, int[] steps, int microBatches) {
    static Counted of(String text, int warmUp, int microBatches) {
      JsonNode answer = JSON.readTree(text);
      int[] calmest = Calmest.of(stolen(answer.get("stolen"), warmUp));
      return new Counted(
          answer, IntStream.of(calmest).map(step -> warmUp + step).toArray(), microBatches);
    }

    private static long[] stolen(JsonNode steps, int warmUp) {
      return IntStream.range(warmUp, steps.size()).mapToLong(i -> steps.get(i).asLong()).toArray();
    }

    private double[] seconds() {
      return IntStream.of(steps)
          .mapToDouble(i -> answer.get("seconds").get(i).asDouble())
          .toArray();
    }

    /** Of each step what its ops of a kind took, as {@link WholeTask} counts them. */
    private double[] ops(int kind) {
      return IntStream.of(steps)
          .mapToDouble(i -> answer.get("ops").get(i).get(kind).asDouble())
          .toArray();
    }

    /** Of each step what a micro-batch took. */
    private double[] each(int kind) {
      return Arrays.stream(ops(kind)).map(all -> all / (microBatches - 1)).toArray();
    }

    private double[] rest() {
      double[] step = seconds();
      double[] forward = each(WholeTask.FORWARD);
      double[] backward = each(WholeTask.BACKWARD);
      double[] update = ops(WholeTask.UPDATE);
      return IntStream.range(0, step.length)
          .mapToDouble(i -> step[i] - microBatches * (forward[i] + backward[i]) - update[i])
          .toArray();
    }
  }

  /**
   * Without the first steps, and of the others the calmest.
   *
   * @param text the task's event
   * @param inTwoParts the same of a task whose backward passes come in two parts
   * @param microBatches of a step, two or more
   */
  static WholeStep parse(String text, String inTwoParts, int warmUp, int microBatches) {
    Counted whole = Counted.of(text, warmUp, microBatches);
    Counted parts = Counted.of(inTwoParts, warmUp, microBatches);
    return new WholeStep(
        Spread.of(whole.seconds()),
        new PassSeconds(
            median(whole.each(WholeTask.FORWARD)),
            median(whole.each(WholeTask.BACKWARD)),
            median(parts.each(WholeTask.BACKWARD)),
            median(parts.each(WholeTask.WEIGHT_GRADIENT)),
            median(whole.ops(WholeTask.UPDATE)),
            median(whole.rest())),
        whole.answer().get("peak").asLong());
  }

  private static double median(double[] values) {
    return Spread.of(values).median();
  }
}

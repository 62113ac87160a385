package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.PassSeconds;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.runtime.launch.QuietQuartile;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What {@link WholeTask} has measured of steps on one worker.
 *
 * @param seconds of the step
 * @param ops medians of its ops
 * @param peakBytes that the worker held
 */
record WholeStep(Spread seconds, PassSeconds ops, long peakBytes) {
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * A step.
   *
   * @param ops seconds of its ops by kind, as {@link WholeTask} counts them
   */
  private record Step(double seconds, long stolen, double[] ops) {
    /** Passes of a task after the first ones. */
    static Stream<Step> of(JsonNode answer, int policy) {
      return IntStream.range(policy, answer.get("seconds").size())
          .mapToObj(i -> {
            double[] ops =
                answer.get("ops").get(i).valueStream().mapToDouble(JsonNode::asDouble).toArray();
            double seconds = answer.get("seconds").get(i).asDouble();
            return new Step(seconds, answer.get("stolen").get(i).asLong(), ops);
          });
    }

    /** The rest of the step, less as many equal micro-batches and the update. */
    private double rest(int microBatches) {
      double passes = ops[WholeTask.FORWARD] + ops[WholeTask.BACKWARD];
      return seconds - passes * microBatches / (microBatches - 1) - ops[WholeTask.UPDATE];
    }
  }

  /** Steps of several tasks. */
  private record Measured(List<Step> steps, int microBatches) {
    static Measured of(List<JsonNode> answers, int policy, int microBatches) {
      return new Measured(
          answers.stream().flatMap(answer -> Step.of(answer, policy)).toList(), microBatches);
    }

    /** Seconds of the steps from which a host took least. */
    private Spread seconds() {
      double[] all = all();
      return Spread.of(IntStream.of(QuietQuartile.of(stolen())).mapToDouble(i -> all[i]).toArray());
    }

    private double[] all() {
      return steps.stream().mapToDouble(Step::seconds).toArray();
    }

    private long[] stolen() {
      return steps.stream().mapToLong(Step::stolen).toArray();
    }

    /** The median of the steps that others disturbed least. */
    private double median(ToDoubleFunction<Step> of) {
      int[] counted = QuietQuartile.shorter(all(), stolen());
      return Spread.of(
              IntStream.of(counted).mapToDouble(i -> of.applyAsDouble(steps.get(i))).toArray())
          .median();
    }

    /** What a micro-batch takes of ops of a kind. */
    private double each(int kind) {
      return median(step -> step.ops()[kind] / (microBatches - 1));
    }
  }

  /**
   * Reads a step's figures, from the least disturbed steps after each task's first ones.
   *
   * @param texts events of tasks
   * @param inTwoParts the same of tasks whose backward passes come in two parts
   * @param microBatches of a step, two or more
   */
  static WholeStep parse(
      List<String> texts, List<String> inTwoParts, int policy, int microBatches) {
    List<JsonNode> answers = read(texts);
    Measured whole = Measured.of(answers, policy, microBatches);
    Measured parts = Measured.of(read(inTwoParts), policy, microBatches);
    return new WholeStep(
        whole.seconds(),
        new PassSeconds(
            whole.each(WholeTask.FORWARD),
            whole.each(WholeTask.BACKWARD),
            parts.each(WholeTask.BACKWARD),
            parts.each(WholeTask.WEIGHT_GRADIENT),
            whole.median(step -> step.ops()[WholeTask.UPDATE]),
            whole.median(step -> step.rest(microBatches))),
        answers.stream().mapToLong(answer -> answer.get("peak").asLong()).max().orElseThrow());
  }

  private static List<JsonNode> read(List<String> texts) {
    return texts.stream().map(JSON::readTree).toList();
  }
}

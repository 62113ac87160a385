package dev.pipewright.sim;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;

/**
 * How long the ops of a schedule take, by stage (of all chains, as {@code Placement} counts them).
 *
 * @param forward seconds of a forward pass
 * @param input seconds of the input's gradient
 * @param weight seconds of the weights' gradient; a whole backward pass takes both
 * @param transfer seconds from the end of an op until a neighbour stage on another rank may use it
 * @param overlapped whether ops that run together take as long as the longest, instead of their sum
 */
public record OpTimes(
    double[] forward, double[] input, double[] weight, double transfer, boolean overlapped) {
  public OpTimes {
    Check.that(
        forward.length == input.length && forward.length == weight.length,
        "one time per stage: forward=%d, input=%d, weight=%d",
        forward.length,
        input.length,
        weight.length);
    for (int stage = 0; stage < forward.length; stage++) {
      Check.amount(forward[stage], "forward time");
      Check.amount(input[stage], "input-gradient time");
      Check.amount(weight[stage], "weight-gradient time");
    }
    Check.amount(transfer, "transfer time");
  }

  /** The same times for every stage. */
  public static OpTimes equal(
      int stages, double forward, double input, double weight, double transfer) {
    double[][] times = new double[3][stages];
    java.util.Arrays.fill(times[0], forward);
    java.util.Arrays.fill(times[1], input);
    java.util.Arrays.fill(times[2], weight);
    return new OpTimes(times[0], times[1], times[2], transfer, false);
  }

  /** Seconds of one packed op. */
  double seconds(long op) {
    int stage = Schedule.stage(op);
    return switch (Schedule.pass(op)) {
      case FORWARD, RECOMPUTE -> forward[stage];
      case BACKWARD -> input[stage] + weight[stage];
      case BACKWARD_INPUT -> input[stage];
      case BACKWARD_WEIGHT -> weight[stage];
    };
  }
}

package dev.pipewright.schedule.search;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * How long the ops of a schedule take, by stage (of all chains, as {@code Placement} counts them),
 * for one micro-batch.
 *
 * @param forward seconds of a forward pass
 * @param input seconds of the input's gradient
 * @param weight seconds of the weights' gradient; a whole backward pass takes both
 * @param recompute seconds of a forward pass again
 * @param there seconds from the end of a stage's forward pass until the next stage, on another
 *     rank, may use its output
 * @param back seconds from the end of the next stage's backward pass until this stage, on another
 *     rank, may use its gradient
 * @param step seconds of what a training step runs once for each stage
 * @param overlapped whether ops that run together take as long as the longest, instead of their sum
 * @param within the backward passes that begin with their forward pass run again, within the same
 *     call: they take as much longer, on whole backward passes or on the input's gradient
 */
public record OpTimes(
    double[] forward,
    double[] input,
    double[] weight,
    double[] recompute,
    double[] there,
    double[] back,
    OncePerStepTimes step,
    boolean overlapped,
    Recomputed.Selector within) {
  /** No backward pass recomputes within its own time. */
  public OpTimes(
      double[] forward,
      double[] input,
      double[] weight,
      double[] recompute,
      double[] there,
      double[] back,
      OncePerStepTimes step,
      boolean overlapped) {
    this(forward, input, weight, recompute, there, back, step, overlapped, Recomputed.NONE);
  }

  public OpTimes {
    check(forward, forward.length, "forward time");
    check(input, forward.length, "input-gradient time");
    check(weight, forward.length, "weight-gradient time");
    check(recompute, forward.length, "recomputation time");
    check(there, forward.length, "transfer time");
    check(back, forward.length, "transfer time");
    check(step.update(), forward.length, "update time");
  }

  private static void check(double[] seconds, int stages, String what) {
    Check.that(
        seconds.length == stages,
        "one %s per stage: times=%d, stages=%d",
        what,
        seconds.length,
        stages);
    for (double value : seconds) {
      Check.amount(value, what);
    }
  }

  /** The same transfer time everywhere; a forward pass takes as long the second time. */
  public static OpTimes of(double[] forward, double[] input, double[] weight, double transfer) {
    double[] transfers = filled(forward.length, transfer);
    return new OpTimes(
        forward,
        input,
        weight,
        forward,
        transfers,
        transfers,
        OncePerStepTimes.none(forward.length),
        false);
  }

  /** Backward passes that are never split, and what a transfer takes over each cut. */
  public static OpTimes whole(double[] forward, double[] backward, double[] there, double[] back) {
    double[] none = new double[forward.length];
    OncePerStepTimes step = OncePerStepTimes.none(forward.length);
    return new OpTimes(forward, backward, none, forward, there, back, step, false);
  }

  /** The same times for every stage. */
  public static OpTimes equal(
      int stages, double forward, double input, double weight, double transfer) {
    return of(filled(stages, forward), filled(stages, input), filled(stages, weight), transfer);
  }

  private static double[] filled(int size, double value) {
    double[] filled = new double[size];
    Arrays.fill(filled, value);
    return filled;
  }

  /** These times, with ops that run together taking as long as the longest. */
  public OpTimes withOverlap() {
    return new OpTimes(forward, input, weight, recompute, there, back, step, true, within);
  }

  /** These times, with others of a step's own ops. */
  public OpTimes withStep(OncePerStepTimes other) {
    return new OpTimes(forward, input, weight, recompute, there, back, other, overlapped, within);
  }

  /** These times, with backward passes that recompute within their own. */
  public OpTimes withRecomputed(Recomputed.Selector selector) {
    return new OpTimes(forward, input, weight, recompute, there, back, step, overlapped, selector);
  }

  /**
   * These times on ranks of different speed.
   *
   * @param slowness how many times as long each rank takes for what it computes
   */
  public OpTimes on(Placement placement, double[] slowness) {
    return new OpTimes(
        slowed(forward, placement, slowness),
        slowed(input, placement, slowness),
        slowed(weight, placement, slowness),
        slowed(recompute, placement, slowness),
        there,
        back,
        new OncePerStepTimes(
            step.gather(),
            step.reduce(),
            step.gradientPass(),
            slowed(step.update(), placement, slowness)),
        overlapped,
        within);
  }

  private static double[] slowed(double[] seconds, Placement placement, double[] slowness) {
    double[] slowed = new double[seconds.length];
    Arrays.setAll(slowed, stage -> seconds[stage] * slowness[placement.rankOf(stage)]);
    return slowed;
  }

  /** All seconds of passes and messages, by stage. */
  public List<List<Double>> passes() {
    return Stream.of(forward, input, weight, recompute, there, back)
        .map(seconds -> Arrays.stream(seconds).boxed().toList())
        .toList();
  }

  public int stages() {
    return forward.length;
  }

  /** Seconds of one packed op. */
  public double seconds(long op) {
    int stage = Schedule.stage(op);
    return switch (Schedule.pass(op)) {
      case FORWARD -> forward[stage];
      case BACKWARD -> input[stage] + weight[stage] + recomputed(op);
      case BACKWARD_INPUT -> input[stage] + recomputed(op);
      case BACKWARD_WEIGHT -> weight[stage];
      case RECOMPUTE -> recompute[stage];
      case UPDATE -> step.update()[stage];
      case REDUCE -> step.reduce()[stage];
      case GATHER -> step.gather()[stage];
      case HAND_ON -> step.gradientPass()[stage];
    };
  }

  /** Whether all micro-batches of a stage take as long. */
  public boolean isByStage() {
    return within.equals(Recomputed.NONE);
  }

  private double recomputed(long op) {
    int stage = Schedule.stage(op);
    return within.recomputes(stage, Schedule.microBatch(op)) ? recompute[stage] : 0;
  }
}

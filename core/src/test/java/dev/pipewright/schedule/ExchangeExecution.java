package dev.pipewright.schedule;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.check.Execution;
import dev.pipewright.schedule.check.Execution.At;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * When the ops of a schedule run, exchanges among them, none joined with another: each as soon as
 * all has ended that it waits for, of an {@link Execution}.
 */
public final class ExchangeExecution {
  private final Execution execution;
  private final List<At> order;
  private final Map<At, Double> starts = new HashMap<>();
  private final Map<At, Double> ends = new HashMap<>();

  /** Passes take a slot, everything else no time. */
  public static ExchangeExecution ofSlots(Schedule schedule) {
    return new ExchangeExecution(
        schedule, op -> op.pass().exchanges() || op.pass() == Pass.UPDATE ? 0 : 1);
  }

  public ExchangeExecution(Schedule schedule, ToDoubleFunction<Op> seconds) {
    execution = new Execution(schedule);
    assertTrue(execution.runs(), () -> "no schedule that runs:\n" + Picture.of(schedule));
    order = execution.order();
    for (At at : order) {
      assertFalse(Schedule.isJoined(schedule.packed(at.rank())[at.position()]), at::toString);
      double start =
          execution.together(at).stream()
              .flatMap(mate -> execution.needs(mate).stream())
              .flatMap(List::stream)
              .mapToDouble(this::end)
              .reduce(0, Math::max);
      starts.put(at, start);
      ends.put(at, start + (alone(at) ? 0 : seconds.applyAsDouble(at.op())));
    }
  }

  /** Whether it is a hand-on to the rank that has it already. */
  private boolean alone(At at) {
    return at.op().pass() == Pass.HAND_ON && !moves(at);
  }

  /** Whether it is a hand-on from another rank. */
  public boolean moves(At at) {
    return at.op().pass() == Pass.HAND_ON
        && at.op().microBatch() > 0
        && release(at).rank() != at.rank();
  }

  /** The op behind which the turn before a hand-on's is over. */
  public At release(At gradientPass) {
    return user(execution.turnBefore(gradientPass));
  }

  /** The op that uses what a hand-on takes over. */
  public At user(At gradientPass) {
    return execution.user(gradientPass).getFirst();
  }

  public double start(At at) {
    return requireNonNull(starts.get(at));
  }

  public double end(At at) {
    return requireNonNull(ends.get(at));
  }

  public double start(Pass pass, int stage, int microBatch) {
    Op op = new Op(pass, stage, microBatch);
    return start(order.stream().filter(at -> at.op().equals(op)).findFirst().orElseThrow());
  }

  public double makespan() {
    return order.stream().mapToDouble(this::end).max().orElse(0);
  }

  /** All ops, none before one that it waits for. */
  public List<At> order() {
    return order;
  }

  /** Fails unless the simulator runs every op at the same time. */
  public static void assertSimulated(Schedule schedule, OpTimes times) {
    ExchangeExecution execution =
        new ExchangeExecution(
            schedule, op -> times.seconds(Schedule.pack(op.pass(), op.stage(), op.microBatch())));
    Run run = StaticSimulator.run(schedule, times);
    for (At at : execution.order()) {
      assertEquals(
          execution.start(at),
          run.start(at.rank(), at.position()),
          1e-9,
          () -> schedule.name() + ": " + at);
    }
    assertEquals(execution.makespan(), run.makespan(), 1e-9);
  }

  /** Random times of everything but transfers; the same for all chains' copies of a stage. */
  public static OpTimes randomTimes(SplittableRandom random, Placement placement) {
    double[][] times = new double[7][placement.stages()];
    for (double[] each : times) {
      double[] stages = random.doubles(placement.depth()).toArray();
      Arrays.setAll(each, stage -> stages[stage % placement.depth()]);
    }
    return OpTimes.of(times[0], times[1], times[2], 0)
        .withStep(new OncePerStepTimes(times[3], times[4], times[5], times[6]));
  }
}

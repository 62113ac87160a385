package dev.pipewright.sim;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Executes a schedule whose orders are fixed: the longest path through its operations.
 *
 * <p>Each stage computes one op at a time in its program's order. Each direction of a link between
 * neighbouring stages carries one transfer at a time, in the order in which the sender produces
 * them, while both ends compute. Gradients are reduced after a stage's last backward pass, then the
 * weights are updated.
 *
 * <p>O(ops): a stage runs until its next op waits for an arrival, and is looked at again when that
 * arrives. Nothing is allocated per op.
 */
public final class PlanSimulator {
  private final Schedule schedule;
  private final StageTimes times;
  private final int microBatches;
  private final double[] forwardEnd;
  private final double[] backwardEnd;
  private final double[] activationAt;
  private final double[] gradientAt;
  private final double[] deviceFree;
  private final double[] linkThereFree;
  private final double[] linkBackFree;
  private final int[] next;

  private PlanSimulator(Schedule schedule, StageTimes times) {
    Check.that(
        schedule.placement().straight(),
        "stages must be on ranks of their own: schedule=%s",
        schedule.name());
    Check.that(
        times.stages() == schedule.stages(),
        "times and schedule must have the same stages: times=%d, schedule=%d",
        times.stages(),
        schedule.stages());
    this.schedule = schedule;
    this.times = times;
    this.microBatches = schedule.microBatches();
    int stages = schedule.stages();
    this.forwardEnd = waiting(stages * microBatches);
    this.backwardEnd = waiting(stages * microBatches);
    this.activationAt = waiting(stages * microBatches);
    this.gradientAt = waiting(stages * microBatches);
    Arrays.fill(activationAt, 0, microBatches, 0); // the input is there from the start
    this.deviceFree = new double[stages];
    this.linkThereFree = new double[stages];
    this.linkBackFree = new double[stages];
    this.next = new int[stages];
  }

  private static double[] waiting(int size) {
    double[] times = new double[size];
    Arrays.fill(times, Double.NaN); // NaN: has not happened
    return times;
  }

  /** Runs one step; throws when a stage would wait for ever. */
  public static PlanRun run(Schedule schedule, StageTimes times) {
    return new PlanSimulator(schedule, times).run();
  }

  private PlanRun run() {
    int stages = schedule.stages();
    int[] queue = new int[stages];
    boolean[] queued = new boolean[stages];
    int size = 0;
    for (int stage = stages - 1; stage >= 0; stage--) {
      queue[size++] = stage;
      queued[stage] = true;
    }
    while (size > 0) {
      int stage = queue[--size];
      queued[stage] = false;
      advance(stage);
      for (int neighbour = stage - 1; neighbour <= stage + 1; neighbour += 2) {
        if (neighbour >= 0 && neighbour < stages && !queued[neighbour] && ready(neighbour)) {
          queue[size++] = neighbour;
          queued[neighbour] = true;
        }
      }
    }
    checkFinished();
    return finish();
  }

  /** Runs the program of a stage until it ends or its next op has to wait. */
  private void advance(int stage) {
    long[] program = schedule.packed(stage);
    int base = stage * microBatches;
    int at = next[stage];
    double free = deviceFree[stage];
    double forward = times.forward()[stage];
    double backward = times.backward()[stage];
    while (at < program.length) {
      int microBatch = Schedule.microBatch(program[at]);
      int index = base + microBatch;
      if (Schedule.pass(program[at]) == Op.Pass.FORWARD) {
        double input = activationAt[index];
        if (Double.isNaN(input)) {
          break;
        }
        free = (input > free ? input : free) + forward;
        forwardEnd[index] = free;
        sendForward(stage, microBatch, free);
      } else {
        double input = gradientAt[index];
        if (Double.isNaN(input) || Double.isNaN(forwardEnd[index])) {
          break;
        }
        free = (input > free ? input : free) + backward;
        backwardEnd[index] = free;
        sendBackward(stage, microBatch, free);
      }
      at++;
    }
    next[stage] = at;
    deviceFree[stage] = free;
  }

  private void sendForward(int stage, int microBatch, double produced) {
    if (stage == schedule.stages() - 1) {
      gradientAt[stage * microBatches + microBatch] = produced; // the loss
      return;
    }
    double start = Math.max(produced, linkThereFree[stage]);
    linkThereFree[stage] = start + times.there()[stage];
    activationAt[(stage + 1) * microBatches + microBatch] = linkThereFree[stage];
  }

  private void sendBackward(int stage, int microBatch, double produced) {
    if (stage == 0) {
      return;
    }
    double start = Math.max(produced, linkBackFree[stage - 1]);
    linkBackFree[stage - 1] = start + times.back()[stage - 1];
    gradientAt[(stage - 1) * microBatches + microBatch] = linkBackFree[stage - 1];
  }

  private boolean ready(int stage) {
    long[] program = schedule.packed(stage);
    if (next[stage] >= program.length) {
      return false;
    }
    long op = program[next[stage]];
    int index = stage * microBatches + Schedule.microBatch(op);
    return Schedule.pass(op) == Op.Pass.FORWARD
        ? !Double.isNaN(activationAt[index])
        : !Double.isNaN(gradientAt[index]) && !Double.isNaN(forwardEnd[index]);
  }

  private void checkFinished() {
    for (int stage = 0; stage < schedule.stages(); stage++) {
      Check.that(
          next[stage] == schedule.packed(stage).length,
          "the schedule cannot run: stage %d waits for ever before its op %d",
          stage,
          next[stage]);
    }
  }

  private PlanRun finish() {
    int stages = schedule.stages();
    double[] lastBackward = new double[stages];
    double end = 0;
    for (int stage = 0; stage < stages; stage++) {
      for (int i = 0; i < microBatches; i++) {
        lastBackward[stage] = Math.max(lastBackward[stage], backwardEnd[stage * microBatches + i]);
      }
      end = Math.max(end, lastBackward[stage] + times.allReduce()[stage] + times.update()[stage]);
    }
    return new PlanRun(
        schedule, times, forwardEnd, backwardEnd, activationAt, gradientAt, lastBackward, end);
  }
}

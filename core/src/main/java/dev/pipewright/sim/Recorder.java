package dev.pipewright.sim;

import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.Plan;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.List;

/** Turns a simulated step of a plan into its timeline, with transfers and memory. */
public final class Recorder {
  private final Plan plan;
  private final List<StageCost> stages;
  private final PlanRun run;
  private final int microBatches;

  private Recorder(Plan plan, List<StageCost> stages, PlanRun run) {
    this.plan = plan;
    this.stages = stages;
    this.run = run;
    this.microBatches = plan.microBatches();
  }

  /** The timeline of {@code run}, which executed {@code plan} at the given prices. */
  public static Timeline timeline(Plan plan, List<StageCost> stages, PlanRun run) {
    return new Recorder(plan, stages, run).timeline();
  }

  private Timeline timeline() {
    List<Lane> lanes = new ArrayList<>();
    List<Flow> flows = new ArrayList<>();
    List<Memory> memory = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      lanes.add(compute(stage));
      if (stage < stages.size() - 1) {
        lanes.add(link(stage, stage + 1, flows));
        lanes.add(link(stage + 1, stage, flows));
      }
      memory.add(memory(stage));
    }
    return new Timeline(lanes, flows, memory, run.end());
  }

  private Lane compute(int stage) {
    List<Slice> slices = new ArrayList<>();
    StageTimes times = run.times();
    for (long op : run.schedule().packed(stage)) {
      int i = Schedule.microBatch(op);
      boolean forward = Schedule.pass(op) == Op.Pass.FORWARD;
      double end = (forward ? run.forwardEnd() : run.backwardEnd())[stage * microBatches + i];
      double seconds = (forward ? times.forward() : times.backward())[stage];
      slices.add(new Slice(forward ? Kind.FORWARD : Kind.BACKWARD, stage, i, end - seconds, end));
    }
    double at = run.lastBackwardEnd()[stage];
    at = add(slices, Kind.ALL_REDUCE, stage, at, times.allReduce()[stage]);
    add(slices, Kind.UPDATE, stage, at, times.update()[stage]);
    return new Lane.Compute(stage, plan.stages().get(stage).devices(), slices);
  }

  private static double add(List<Slice> slices, Kind kind, int stage, double at, double seconds) {
    if (seconds > 0) {
      slices.add(new Slice(kind, stage, -1, at, at + seconds));
    }
    return at + seconds;
  }

  private Lane link(int from, int to, List<Flow> flows) {
    boolean forward = from < to;
    double seconds = forward ? run.times().there()[from] : run.times().back()[to];
    double[] arrival = forward ? run.activationAt() : run.gradientAt();
    Kind kind = forward ? Kind.TRANSFER_FORWARD : Kind.TRANSFER_BACKWARD;
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < microBatches; i++) {
      double end = arrival[to * microBatches + i];
      slices.add(new Slice(kind, from, i, end - seconds, end));
      flows.add(new Flow(from, to, i, forward, end - seconds, end));
    }
    return new Lane.Link(from, to, slices);
  }

  /** Activations appear when a forward pass starts and go when its backward pass ends. */
  private Memory memory(int stage) {
    StageMemory sizes = stages.get(stage).memory();
    long[] program = run.schedule().packed(stage);
    double backward = run.times().backward()[stage];
    double forward = run.times().forward()[stage];
    double[] seconds = new double[2 * program.length + 1];
    double[] bytes = new double[seconds.length];
    double now = sizes.staticBytes();
    bytes[0] = now;
    int at = 1;
    for (long op : program) {
      int index = stage * microBatches + Schedule.microBatch(op);
      boolean isForward = Schedule.pass(op) == Op.Pass.FORWARD;
      double end = (isForward ? run.forwardEnd() : run.backwardEnd())[index];
      seconds[at] = end - (isForward ? forward : backward);
      now += isForward ? sizes.heldBytes() : sizes.workingBytes();
      bytes[at++] = now;
      seconds[at] = end;
      now -= isForward ? 0 : sizes.heldBytes() + sizes.workingBytes();
      bytes[at++] = now;
    }
    return new Memory(stage, sizes.staticBytes(), seconds, bytes);
  }
}

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
  private final Run run;
  private final int microBatches;

  private Recorder(Plan plan, List<StageCost> stages, Run run) {
    this.plan = plan;
    this.stages = stages;
    this.run = run;
    this.microBatches = plan.microBatches();
  }

  /** The timeline of {@code run}, which executed {@code plan} at the given prices. */
  public static Timeline timeline(Plan plan, List<StageCost> stages, Run run) {
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
    return new Timeline(lanes, flows, memory, run.makespan());
  }

  private Lane compute(int stage) {
    List<Slice> slices = new ArrayList<>();
    double stretched = 0;
    long[] program = run.schedule().packed(stage);
    for (int at = 0; at < program.length; at++) {
      Op.Pass pass = Schedule.pass(program[at]);
      boolean once = pass == Op.Pass.REDUCE || pass == Op.Pass.UPDATE;
      int i = once ? -1 : Schedule.microBatch(program[at]);
      stretched += once ? 0 : run.stretched(stage, at);
      if (!once || run.end(stage, at) > run.start(stage, at)) {
        slices.add(new Slice(kind(pass), stage, i, run.start(stage, at), run.end(stage, at)));
      }
    }
    return new Lane.Compute(stage, plan.stages().get(stage).devices(), slices, stretched);
  }

  private static Kind kind(Op.Pass pass) {
    return switch (pass) {
      case FORWARD -> Kind.FORWARD;
      case BACKWARD -> Kind.BACKWARD;
      case REDUCE -> Kind.ALL_REDUCE;
      case UPDATE -> Kind.UPDATE;
      default -> throw new IllegalArgumentException("plans have no such op: pass=" + pass);
    };
  }

  private Lane link(int from, int to, List<Flow> flows) {
    boolean forward = from < to;
    StageCost cost = stages.get(Math.min(from, to));
    double seconds = forward ? cost.sendSeconds() : cost.returnSeconds();
    Kind kind = forward ? Kind.TRANSFER_FORWARD : Kind.TRANSFER_BACKWARD;
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < microBatches; i++) {
      double end = forward ? run.activationAt(to, i) : run.gradientAt(to, i);
      slices.add(new Slice(kind, from, i, end - seconds, end));
      flows.add(new Flow(from, to, i, forward, end - seconds, end));
    }
    return new Lane.Link(from, to, slices);
  }

  /** Activations appear when a forward pass starts and go when its backward pass ends. */
  private Memory memory(int stage) {
    StageMemory sizes = stages.get(stage).memory();
    long[] program = run.schedule().packed(stage);
    double[] seconds = new double[4 * microBatches + 1];
    double[] bytes = new double[seconds.length];
    double now = sizes.staticBytes();
    bytes[0] = now;
    int at = 1;
    for (int i = 0; i < 2 * microBatches; i++) { // the step's end changes nothing
      boolean isForward = Schedule.pass(program[i]) == Op.Pass.FORWARD;
      boolean isLast = Schedule.microBatch(program[i]) == microBatches - 1;
      double kept = isLast ? sizes.lastBytes() : 0; // from the forward pass on
      seconds[at] = run.start(stage, i);
      now += isForward ? sizes.heldBytes() + kept : sizes.workingBytes() - kept;
      bytes[at++] = now;
      seconds[at] = run.end(stage, i);
      now -= isForward ? 0 : sizes.heldBytes() + sizes.workingBytes();
      bytes[at++] = now;
    }
    return new Memory(stage, sizes.staticBytes(), seconds, bytes);
  }
}

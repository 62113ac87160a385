package dev.pipewright.sim;

import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.MemoryUnit;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Turns a simulated or measured run into its timeline. */
public final class Recorder {
  private final Run run;
  private final Schedule schedule;
  private final List<Lane> lanes = new ArrayList<>();

  private Recorder(Run run) {
    this.run = run;
    this.schedule = run.schedule();
  }

  /**
   * The timeline of a run of a schedule, which knows no sizes: a rank's memory is the number of
   * activations that it holds.
   *
   * @param chunks stages of each rank and direction, which an activation is divided into
   */
  public static Timeline timeline(Run run, MemoryCap cap, int chunks) {
    Recorder recorder = new Recorder(run);
    List<Memory> memory = new ArrayList<>();
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      recorder.lanes.add(recorder.compute(rank));
      memory.add(recorder.activations(rank, cap.on(rank), chunks));
    }
    return new Timeline(
        run.schedule().placement(),
        recorder.lanes,
        Flows.of(run.schedule()),
        memory,
        MemoryUnit.MICRO_BATCHES,
        run.makespan());
  }

  /**
   * The timeline of a step of {@code plan} at the given prices, with its transfers.
   *
   * @param memory of each stage
   */
  public static Timeline timeline(
      Plan plan, List<StageCost> stages, Run run, List<RankMemory> memory) {
    Recorder recorder = new Recorder(run);
    List<Memory> curves = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      recorder.lanes.add(recorder.passes(plan.stages().get(stage), stage));
      if (stage < stages.size() - 1) {
        recorder.lanes.add(recorder.link(stage, stage + 1, stages.get(stage).sendSeconds()));
        recorder.lanes.add(recorder.link(stage + 1, stage, stages.get(stage).returnSeconds()));
      }
      curves.add(curve(memory.get(stage), stages.get(stage)));
    }
    List<Flow> flows = Flows.of(run.schedule());
    return new Timeline(recorder.lanes, flows, curves, run.makespan());
  }

  private static Memory curve(RankMemory memory, StageCost cost) {
    return new Memory(
        memory.rank(),
        cost.memory().staticBytes(),
        cost.memory().capacity().value(),
        memory.total().seconds(),
        memory.total().bytes());
  }

  private Lane compute(int rank) {
    long[] program = schedule.packed(rank);
    List<Slice> slices = new ArrayList<>(program.length);
    for (int i = 0; i < program.length; i++) {
      slices.add(slice(rank, i, Schedule.microBatch(program[i])));
    }
    int ops = program.length;
    double span = ops == 0 ? 0 : run.end(rank, ops - 1) - run.start(rank, 0);
    return new Lane.Compute(rank, List.of(), slices, run.busy(rank), span);
  }

  private Slice slice(int rank, int at, int microBatch) {
    long op = schedule.packed(rank)[at];
    Kind kind = Kind.of(Schedule.pass(op));
    return new Slice(kind, Schedule.stage(op), microBatch, run.start(rank, at), run.end(rank, at));
  }

  /** A stage of a plan: its work are the passes, without what ends the step. */
  private Lane passes(StagePlan stage, int rank) {
    long[] program = schedule.packed(rank);
    List<Slice> slices = new ArrayList<>(program.length);
    double busy = 0;
    double start = Double.NaN;
    double end = Double.NaN;
    for (int at = 0; at < program.length; at++) {
      Pass pass = Schedule.pass(program[at]);
      if (pass == Pass.FORWARD || pass == Pass.BACKWARD) {
        slices.add(slice(rank, at, Schedule.microBatch(program[at])));
        end = run.end(rank, at);
        start = Double.isNaN(start) ? run.start(rank, at) : start;
        busy += end - run.start(rank, at) - run.stretched(rank, at);
      } else if (run.end(rank, at) > run.start(rank, at)) {
        slices.add(slice(rank, at, -1));
      }
    }
    double span = Double.isNaN(start) ? 0 : end - start;
    return new Lane.Compute(rank, stage.devices(), slices, busy, span);
  }

  private Lane link(int from, int to, double seconds) {
    boolean forward = from < to;
    Kind kind = forward ? Kind.TRANSFER_FORWARD : Kind.TRANSFER_BACKWARD;
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < schedule.microBatches(); i++) {
      double end = forward ? run.activationAt(to, i) : run.gradientAt(to, i);
      slices.add(new Slice(kind, from, i, end - seconds, end));
    }
    return new Lane.Link(from, to, slices);
  }

  /**
   * One more when a forward pass starts, one less when a backward pass has ended. Ops that run
   * together count one after the other, in the order in which the peaks are counted.
   */
  private Memory activations(int rank, double cap, int chunks) {
    long[] program = schedule.packed(rank);
    double[] seconds = new double[program.length + 1];
    double[] held = new double[program.length + 1];
    int now = run.heldBefore(rank);
    held[0] = (double) now / chunks;
    int size = 1;
    for (int i = 0; i < program.length; i++) {
      boolean starts = Schedule.pass(program[i]) == Pass.FORWARD;
      if (starts || Schedule.pass(program[i]).releases()) {
        double at = starts ? run.start(rank, i) : run.end(rank, i);
        now += starts ? 1 : -1;
        seconds[size] = Math.max(at, seconds[size - 1]);
        held[size++] = (double) now / chunks;
      }
    }
    return new Memory(rank, 0, cap, Arrays.copyOf(seconds, size), Arrays.copyOf(held, size));
  }
}

package dev.pipewright.sim.repeated;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.MemoryUnit;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The timeline of a pattern no op of which starts before its time: the pipeline fills and runs for
 * some periods. Even stages of the pattern compute; odd ones are links, one for each cut.
 */
public final class PatternTimeline {
  private static final int FULL = 2; // periods after the pipeline has filled

  private final Pattern pattern;
  private final List<Device> devices; // those with a stage
  private final List<Task> tasks;
  private final int rounds;
  private final RepeatedRun run;

  /**
   * What a device holds all the time.
   *
   * @param stages the pattern's computing stages that it has, in order
   * @param staticBytes weights, gradients and optimizer state
   * @param workingBytes the rest
   */
  public record Device(
      int device,
      List<Integer> stages,
      double staticBytes,
      double workingBytes,
      double capacityBytes) {
    public Device {
      stages = List.copyOf(stages);
    }
  }

  private PatternTimeline(Pattern pattern, List<Device> devices, double[] slowness) {
    this.pattern = pattern;
    this.devices = List.copyOf(devices);
    this.tasks = PatternTasks.of(pattern, true, slowness);
    this.rounds = periods(pattern);
    this.run =
        RepeatedRun.of(
            tasks, pattern.placement().ranks(), pattern.batches(), pattern.period(), rounds);
  }

  /** Periods that {@link #of} shows. */
  public static int periods(Pattern pattern) {
    return RepeatedRun.rounds(PatternTasks.of(pattern, true), pattern.batches()) + FULL;
  }

  /**
   * The timeline.
   *
   * @param devices those with a stage
   * @param slowness how many times as long each rank takes; as usual for those that are not named
   * @throws IllegalArgumentException where ops wait for each other in a circle
   */
  public static Timeline of(Pattern pattern, List<Device> devices, double... slowness) {
    return new PatternTimeline(pattern, devices, slowness).timeline();
  }

  private Timeline timeline() {
    int[] lane = new int[(pattern.stages().size() + 1) / 2]; // by computing stage
    for (int i = 0; i < devices.size(); i++) {
      for (int stage : devices.get(i).stages()) {
        lane[stage] = i;
      }
    }
    List<Lane> lanes = new ArrayList<>();
    List<Memory> memory = new ArrayList<>();
    double end = 0;
    for (int i = 0; i < devices.size(); i++) {
      List<Slice> slices = new ArrayList<>();
      for (int stage : devices.get(i).stages()) {
        slices.addAll(slices(2 * stage, Pass.FORWARD, Kind.FORWARD, stage));
        slices.addAll(slices(2 * stage, Pass.BACKWARD, Kind.BACKWARD, stage));
      }
      slices.sort(Comparator.comparingDouble(Slice::start));
      double last = slices.getLast().end();
      end = Math.max(end, last);
      lanes.add(
          new Lane.Compute(
              i,
              List.of(devices.get(i).device()),
              slices,
              slices.stream().mapToDouble(Slice::seconds).sum(),
              last - slices.getFirst().start()));
      for (int stage = 0; stage + 1 < lane.length; stage++) {
        if (Math.min(lane[stage], lane[stage + 1]) == i) {
          lanes.add(link(stage, Pass.FORWARD, lane[stage], lane[stage + 1]));
          lanes.add(link(stage, Pass.BACKWARD, lane[stage + 1], lane[stage]));
        }
      }
      memory.add(memory(i, slices));
    }
    return new Timeline(
        Placement.of(devices.size(), 1, lane), lanes, List.of(), memory, MemoryUnit.BYTES, end);
  }

  /** Messages over the cut after a stage. */
  private Lane link(int stage, Pass pass, int from, int to) {
    boolean forward = pass == Pass.FORWARD;
    Kind kind = forward ? Kind.TRANSFER_FORWARD : Kind.TRANSFER_BACKWARD;
    List<Slice> slices = slices(2 * stage + 1, pass, kind, forward ? stage : stage + 1);
    slices.sort(Comparator.comparingDouble(Slice::start));
    return new Lane.Link(from, to, slices);
  }

  /** What one of the pattern's stages does in one direction. */
  private List<Slice> slices(int ofPattern, Pass pass, Kind kind, int stage) {
    List<Slice> slices = new ArrayList<>();
    for (int task = 0; task < tasks.size(); task++) {
      RepeatedOp op = pattern.ops().get(task);
      for (int round = 0; round < rounds; round++) {
        double end = run.end(task, round);
        if (op.stage() == ofPattern && op.pass() == pass && !Double.isNaN(end)) {
          double start = end - tasks.get(task).seconds();
          slices.add(new Slice(kind, stage, run.batch(task, round), start, end));
        }
      }
    }
    return slices;
  }

  /** A forward pass takes its stage's activations when it starts; a backward pass frees them. */
  private Memory memory(int lane, List<Slice> slices) {
    record Change(double seconds, double bytes) {}
    List<Change> changes = new ArrayList<>();
    for (Slice slice : slices) {
      boolean forward = slice.kind() == Kind.FORWARD;
      double bytes = pattern.stages().get(2 * slice.stage()).activationBytes();
      changes.add(new Change(forward ? slice.start() : slice.end(), forward ? bytes : -bytes));
    }
    changes.sort(Comparator.comparingDouble(Change::seconds).thenComparingDouble(Change::bytes));
    Device device = devices.get(lane);
    double[] seconds = new double[changes.size() + 1];
    double[] bytes = new double[changes.size() + 1];
    bytes[0] = device.staticBytes() + device.workingBytes();
    for (int i = 0; i < changes.size(); i++) {
      seconds[i + 1] = changes.get(i).seconds();
      bytes[i + 1] = bytes[i] + changes.get(i).bytes();
    }
    return new Memory(lane, device.staticBytes(), device.capacityBytes(), seconds, bytes);
  }
}

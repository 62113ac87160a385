package dev.pipewright.sim;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.MemoryUnit;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
   * The timeline of training on devices, with its transfers.
   *
   * @param devices of each rank
   * @param there seconds of a message from each stage to the next: of one chain where all are
   *     alike, or of all chains
   * @param back seconds of a message from the next stage
   * @param memory of each rank
   */
  public static Timeline timeline(
      Run run, List<List<Integer>> devices, double[] there, double[] back, List<Memory> memory) {
    Recorder recorder = new Recorder(run);
    Map<Link, List<Slice>> links = recorder.links(there, back);
    for (int rank = 0; rank < devices.size(); rank++) {
      recorder.lanes.add(recorder.passes(devices.get(rank), rank));
      for (Map.Entry<Link, List<Slice>> link : links.entrySet()) {
        Link ends = link.getKey();
        if (Math.min(ends.from(), ends.to()) == rank) {
          link.getValue().sort(Comparator.comparingDouble(Slice::start));
          recorder.lanes.add(new Lane.Link(ends.from(), ends.to(), link.getValue()));
        }
      }
    }
    return new Timeline(
        run.schedule().placement(),
        recorder.lanes,
        Flows.of(run.schedule()),
        memory,
        MemoryUnit.BYTES,
        run.makespan());
  }

  /** The ranks that a message goes between. */
  private record Link(int from, int to) {}

  /** The messages between ranks. */
  private Map<Link, List<Slice>> links(double[] there, double[] back) {
    Placement placement = schedule.placement();
    Map<Link, List<Slice>> links = new LinkedHashMap<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      int of = stage % there.length;
      int rank = placement.rankOf(stage);
      if (!placement.last(stage) && placement.rankOf(stage + 1) != rank) {
        int next = placement.rankOf(stage + 1);
        List<Slice> sent = links.computeIfAbsent(new Link(rank, next), key -> new ArrayList<>());
        List<Slice> returned =
            links.computeIfAbsent(new Link(next, rank), key -> new ArrayList<>());
        for (int i = 0; i < schedule.microBatches(); i++) {
          double end = run.activationAt(stage + 1, i);
          sent.add(new Slice(Kind.TRANSFER_FORWARD, stage, i, end - there[of], end));
          end = run.gradientAt(stage, i);
          returned.add(new Slice(Kind.TRANSFER_BACKWARD, stage + 1, i, end - back[of], end));
        }
      }
    }
    return links;
  }

  private Lane compute(int rank) {
    long[] program = schedule.packed(rank);
    List<Slice> slices = new ArrayList<>(program.length);
    for (int i = 0; i < program.length; i++) {
      slices.add(slice(rank, i, Schedule.microBatch(program[i])));
    }
    return new Lane.Compute(rank, List.of(), slices, run.busy(rank), run.span(rank));
  }

  private Slice slice(int rank, int at, int microBatch) {
    long op = schedule.packed(rank)[at];
    Kind kind = Kind.of(Schedule.pass(op));
    return new Slice(kind, Schedule.stage(op), microBatch, run.start(rank, at), run.end(rank, at));
  }

  /**
   * A rank's work are the passes, without what ends the step. Flows name slices by the positions of
   * their ops, so only what comes after all passes may be left out.
   */
  private Lane passes(List<Integer> devices, int rank) {
    long[] program = schedule.packed(rank);
    int last = program.length - 1; // pass
    while (last >= 0 && !isPass(program[last])) {
      last--;
    }
    List<Slice> slices = new ArrayList<>(program.length);
    double busy = 0;
    double start = Double.NaN;
    double end = Double.NaN;
    for (int at = 0; at < program.length; at++) {
      if (isPass(program[at])) {
        slices.add(slice(rank, at, Schedule.microBatch(program[at])));
        end = run.end(rank, at);
        start = Double.isNaN(start) ? run.start(rank, at) : start;
        busy += run.counts(rank, at) ? end - run.start(rank, at) - run.stretched(rank, at) : 0;
      } else if (at < last || run.end(rank, at) > run.start(rank, at)) {
        slices.add(slice(rank, at, -1));
      }
    }
    double span = Double.isNaN(start) ? 0 : end - start;
    return new Lane.Compute(rank, devices, slices, busy, span);
  }

  private static boolean isPass(long op) {
    Pass pass = Schedule.pass(op);
    return !pass.exchanges() && pass != Pass.UPDATE;
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

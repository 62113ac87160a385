package dev.pipewright.app.report;

import dev.pipewright.app.report.TraceEvents.Track;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A step in the JSON trace event format that Perfetto and Chrome show. Process 1 computes, with a
 * thread and a memory counter for each stage; process 2 communicates, with a thread for each link
 * and each stage's all-reduce. Arrows lead from the pass that makes data to the one that needs it.
 */
public final class PerfettoTrace {
  private static final int COMPUTE = 1;
  private static final int COMMUNICATION = 2;

  private final Timeline timeline;
  private final TraceEvents out;
  private final Map<Pass, List<Integer>> leaving = new HashMap<>();
  private final Map<Pass, List<Integer>> arriving = new HashMap<>();

  /** A slice that flows begin or end in. */
  private record Pass(int stage, int microBatch, boolean forward) {}

  private PerfettoTrace(Timeline timeline, TraceEvents out) {
    this.timeline = timeline;
    this.out = out;
  }

  /** The trace as text. */
  public static String of(String title, Timeline timeline) {
    StringBuilder text = new StringBuilder();
    try {
      write(title, timeline, text);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return text.toString();
  }

  /** Appends the trace event by event, since long ones are large. */
  public static void write(String title, Timeline timeline, Appendable out) throws IOException {
    TraceEvents events = TraceEvents.begin(title, out);
    new PerfettoTrace(timeline, events).events();
    events.end();
  }

  private void events() throws IOException {
    matchFlows();
    out.process(COMPUTE, "compute");
    out.process(COMMUNICATION, "communication");
    int link = 0;
    for (Lane lane : Lanes.inOrder(timeline)) {
      if (lane instanceof Lane.Compute compute) {
        compute(compute);
      } else if (lane instanceof Lane.Link direction) {
        link(direction, 1_000 + link++);
      }
    }
    for (Memory memory : timeline.memory()) {
      counter(memory);
    }
  }

  /** Numbers the flows whose two ends exist. */
  private void matchFlows() {
    Map<Pass, Slice> passes = new HashMap<>();
    for (Lane.Compute lane : Lanes.compute(timeline)) {
      for (Slice slice : lane.slices()) {
        if (Look.isPass(slice.kind())) {
          passes.put(pass(slice), slice);
        }
      }
    }
    int id = 0;
    for (Flow flow : timeline.flows()) {
      Pass from = new Pass(flow.from(), flow.microBatch(), flow.forward());
      Pass to = new Pass(flow.to(), flow.microBatch(), flow.forward());
      if (passes.containsKey(from) && passes.containsKey(to)) {
        leaving.computeIfAbsent(from, none -> new ArrayList<>(1)).add(id);
        arriving.computeIfAbsent(to, none -> new ArrayList<>(1)).add(id);
        id++;
      }
    }
  }

  private static Pass pass(Slice slice) {
    return new Pass(slice.stage(), slice.microBatch(), slice.kind() == Kind.FORWARD);
  }

  private void compute(Lane.Compute lane) throws IOException {
    Track track = new Track(COMPUTE, 1 + lane.stage());
    out.thread(track, "stage " + lane.stage() + ", devices " + Words.devices(lane.devices()));
    boolean reduces = false;
    for (Slice slice : lane.slices()) {
      if (slice.kind() == Kind.ALL_REDUCE) {
        reduces = true; // may run beside a pass, which a thread's slices must not
      } else {
        slice(track, slice);
        if (Look.isPass(slice.kind())) {
          flows(track, slice);
        }
      }
    }
    if (reduces) {
      reduces(lane);
    }
  }

  private void reduces(Lane.Compute lane) throws IOException {
    Track track = new Track(COMMUNICATION, 1 + lane.stage());
    out.thread(track, "stage " + lane.stage() + " all-reduce");
    for (Slice slice : lane.slices()) {
      if (slice.kind() == Kind.ALL_REDUCE) {
        slice(track, slice);
      }
    }
  }

  private void link(Lane.Link lane, int thread) throws IOException {
    Track track = new Track(COMMUNICATION, thread);
    out.thread(track, "link " + lane.from() + " → " + lane.to());
    for (Slice slice : lane.slices()) {
      slice(track, slice);
    }
  }

  private void slice(Track track, Slice slice) throws IOException {
    String what = Look.of(slice.kind()).word;
    String stage = "\"stage\":" + slice.stage();
    if (slice.microBatch() < 0) {
      out.slice(track, slice.start(), slice.end(), what, what, stage);
    } else {
      String arguments = stage + ",\"micro_batch\":" + slice.microBatch();
      String name = what + ' ' + slice.microBatch();
      out.slice(track, slice.start(), slice.end(), what, name, arguments);
    }
  }

  private void flows(Track track, Slice slice) throws IOException {
    Pass pass = pass(slice);
    String name = slice.kind() == Kind.FORWARD ? "activations" : "gradients";
    for (int id : arriving.getOrDefault(pass, List.of())) {
      out.arrive(track, slice.start(), name, id);
    }
    for (int id : leaving.getOrDefault(pass, List.of())) {
      double within =
          slice.start() + 0.5 * slice.seconds(); // an arrow belongs to the slice around it
      out.leave(track, within, name, id);
    }
  }

  private void counter(Memory memory) throws IOException {
    for (int i = 0; i < memory.seconds().length; i++) {
      String name = "memory of stage " + memory.stage();
      out.counter(COMPUTE, memory.seconds()[i], name, "bytes", Math.rint(memory.bytes()[i]));
    }
  }
}

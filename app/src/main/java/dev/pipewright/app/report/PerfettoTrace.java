package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
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
  private static final double MICROS = 1e6;

  private final Timeline timeline;
  private final Appendable out;
  private final StringBuilder event = new StringBuilder();
  private final Map<Pass, List<Integer>> leaving = new HashMap<>();
  private final Map<Pass, List<Integer>> arriving = new HashMap<>();
  private boolean first = true;

  /** A slice that flows begin or end in. */
  private record Pass(int stage, int microBatch, boolean forward) {}

  private PerfettoTrace(Timeline timeline, Appendable out) {
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
    StringBuilder head = new StringBuilder("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":");
    Markup.quote(head, title);
    out.append(head.append("},\"traceEvents\":[\n"));
    new PerfettoTrace(timeline, out).events();
    out.append("\n]}\n");
  }

  private void events() throws IOException {
    matchFlows();
    process(COMPUTE, "compute");
    process(COMMUNICATION, "communication");
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
    int thread = 1 + lane.stage();
    String name = "stage " + lane.stage() + ", devices " + Words.devices(lane.devices());
    thread(COMPUTE, thread, name);
    boolean reduces = false;
    for (Slice slice : lane.slices()) {
      if (slice.kind() == Kind.ALL_REDUCE) {
        reduces = true; // may run beside a pass, which a thread's slices must not
      } else {
        slice(COMPUTE, thread, slice);
        if (Look.isPass(slice.kind())) {
          flows(thread, slice);
        }
      }
    }
    if (reduces) {
      thread(COMMUNICATION, thread, "stage " + lane.stage() + " all-reduce");
      for (Slice slice : lane.slices()) {
        if (slice.kind() == Kind.ALL_REDUCE) {
          slice(COMMUNICATION, thread, slice);
        }
      }
    }
  }

  private void link(Lane.Link lane, int thread) throws IOException {
    thread(COMMUNICATION, thread, "link " + lane.from() + " → " + lane.to());
    for (Slice slice : lane.slices()) {
      slice(COMMUNICATION, thread, slice);
    }
  }

  private void process(int process, String name) throws IOException {
    named("process_name", process, 0, name);
    sorted("process_sort_index", process, 0);
  }

  private void thread(int process, int thread, String name) throws IOException {
    named("thread_name", process, thread, name);
    sorted("thread_sort_index", process, thread);
  }

  private void named(String what, int process, int thread, String name) throws IOException {
    begin('M', process, thread);
    event.append(",\"name\":\"").append(what).append("\",\"args\":{\"name\":");
    Markup.quote(event, name);
    event.append('}');
    end();
  }

  private void sorted(String what, int process, int thread) throws IOException {
    begin('M', process, thread);
    int index = thread == 0 ? process : thread;
    event.append(",\"name\":\"").append(what).append("\",\"args\":{\"sort_index\":").append(index);
    event.append('}');
    end();
  }

  private void slice(int process, int thread, Slice slice) throws IOException {
    Look look = Look.of(slice.kind());
    begin('X', process, thread);
    time(slice.start());
    Units.appendFixed(event.append(",\"dur\":"), slice.seconds() * MICROS, 3);
    event.append(",\"cat\":\"").append(look.word).append("\",\"name\":\"").append(look.word);
    if (slice.microBatch() >= 0) {
      event.append(' ').append(slice.microBatch());
    }
    event.append("\",\"args\":{\"stage\":").append(slice.stage());
    if (slice.microBatch() >= 0) {
      event.append(",\"micro_batch\":").append(slice.microBatch());
    }
    event.append('}');
    end();
  }

  private void flows(int thread, Slice slice) throws IOException {
    Pass pass = pass(slice);
    for (int id : arriving.getOrDefault(pass, List.of())) {
      flow('f', thread, slice.start(), id, slice.kind());
    }
    for (int id : leaving.getOrDefault(pass, List.of())) {
      double within =
          slice.start() + 0.5 * slice.seconds(); // an arrow belongs to the slice around it
      flow('s', thread, within, id, slice.kind());
    }
  }

  private void flow(char phase, int thread, double seconds, int id, Kind kind) throws IOException {
    begin(phase, COMPUTE, thread);
    time(seconds);
    String name = kind == Kind.FORWARD ? "activations" : "gradients";
    event.append(",\"cat\":\"transfer\",\"name\":\"").append(name).append("\",\"id\":").append(id);
    event.append(phase == 'f' ? ",\"bp\":\"e\"" : "");
    end();
  }

  private void counter(Memory memory) throws IOException {
    for (int i = 0; i < memory.seconds().length; i++) {
      begin('C', COMPUTE, 0);
      time(memory.seconds()[i]);
      event.append(",\"name\":\"memory of stage ").append(memory.stage()).append("\",\"args\":{");
      Units.appendFixed(event.append("\"bytes\":"), memory.bytes()[i], 0);
      event.append('}');
      end();
    }
  }

  private void begin(char phase, int process, int thread) {
    event.setLength(0);
    event.append(first ? "" : ",\n").append("{\"ph\":\"").append(phase);
    event.append("\",\"pid\":").append(process).append(",\"tid\":").append(thread);
    first = false;
  }

  private void time(double seconds) {
    Units.appendFixed(event.append(",\"ts\":"), seconds * MICROS, 3);
  }

  private void end() throws IOException {
    out.append(event.append('}'));
  }
}

package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.TraceEvents.Track;
import dev.pipewright.schedule.Placement;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.MemoryUnit;
import dev.pipewright.trace.Timeline.Slice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A timeline in the JSON trace event format that Perfetto and Chrome show. Process 1 computes, with
 * a thread and a memory counter for each rank; process 2 communicates, with a thread for each link
 * and for each rank's exchanges. Ops that run together are one slice. Arrows lead from the op that
 * makes data to the one on another rank that needs it.
 */
public final class PerfettoTrace {
  private static final int COMPUTE = 1;
  private static final int COMMUNICATION = 2;

  private final Timeline timeline;
  private final Placement placement;
  private final TraceEvents out;
  private final Map<Place, List<Arrow>> leaving = new HashMap<>();
  private final Map<Place, List<Arrow>> arriving = new HashMap<>();

  /** A slice of a rank, by its position in the lane. */
  private record Place(int rank, int position) {}

  private record Arrow(int id, String name) {}

  private PerfettoTrace(Timeline timeline, TraceEvents out) {
    this.timeline = timeline;
    this.placement = timeline.placement();
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
    arrows();
    out.process(COMPUTE, "compute");
    out.process(COMMUNICATION, "communication");
    int link = 0;
    for (Lane lane : timeline.lanes()) {
      if (lane instanceof Lane.Compute compute) {
        compute(compute);
      } else if (lane instanceof Lane.Link direction) {
        link(direction, 1 + timeline.lanes().size() + link++);
      }
    }
    for (Memory memory : timeline.memory()) {
      counter(memory);
    }
  }

  /** Numbers the arrows whose two ends can be seen. */
  private void arrows() {
    Map<Integer, List<Slice>> slices = new HashMap<>();
    for (Lane.Compute lane : timeline.compute()) {
      slices.put(lane.rank(), lane.slices());
    }
    int id = 0;
    for (Flow flow : timeline.flows()) {
      List<Slice> from = slices.getOrDefault(flow.from(), List.of());
      List<Slice> to = slices.getOrDefault(flow.to(), List.of());
      if (from.get(flow.fromSlice()).seconds() > 0 && to.get(flow.toSlice()).seconds() > 0) {
        String name =
            switch (flow.content()) {
              case ACTIVATIONS -> "activations";
              case GRADIENTS -> "gradients";
              case STATE -> "state";
            };
        Arrow arrow = new Arrow(id++, name);
        Place source = new Place(flow.from(), Lanes.first(from, flow.fromSlice()));
        Place target = new Place(flow.to(), Lanes.first(to, flow.toSlice()));
        leaving.computeIfAbsent(source, none -> new ArrayList<>(1)).add(arrow);
        arriving.computeIfAbsent(target, none -> new ArrayList<>(1)).add(arrow);
      }
    }
  }

  private void compute(Lane.Compute lane) throws IOException {
    Track track = new Track(COMPUTE, 1 + lane.rank());
    String devices = lane.devices().isEmpty() ? "" : ", devices " + Words.devices(lane.devices());
    out.thread(track, Lanes.name(timeline, lane) + devices);
    Track exchanges = new Track(COMMUNICATION, 1 + lane.rank());
    boolean named = false; // whether the rank exchanges anything
    List<Slice> slices = lane.slices();
    for (int i = 0; i < slices.size(); ) {
      if (slices.get(i).kind().exchanges()) { // may overlap a pass, which a thread's must not
        if (!named) {
          out.thread(exchanges, Lanes.name(timeline, lane) + " exchanges");
          named = true;
        }
        slice(exchanges, lane, i, i + 1);
        i++;
      } else {
        int end = Lanes.end(slices, i);
        slice(track, lane, i, end);
        i = end;
      }
    }
  }

  private void link(Lane.Link lane, int thread) throws IOException {
    Track track = new Track(COMMUNICATION, thread);
    out.thread(track, "link " + lane.from() + " → " + lane.to());
    for (Slice slice : lane.slices()) {
      String word = Look.of(slice.kind()).word;
      out.slice(track, slice.start(), slice.end(), word, name(slice), arguments(slice, ""));
    }
  }

  /** Those from one position to another run together. */
  private void slice(Track track, Lane.Compute lane, int from, int to) throws IOException {
    Slice first = lane.slices().get(from);
    double end = first.end();
    StringBuilder name = new StringBuilder(name(first));
    StringBuilder category = new StringBuilder(Look.of(first.kind()).word);
    StringBuilder arguments = new StringBuilder(arguments(first, ""));
    for (int i = from + 1; i < to; i++) {
      Slice other = lane.slices().get(i);
      name.append(" + ").append(name(other));
      category.append(',').append(Look.of(other.kind()).word);
      arguments.append(',').append(arguments(other, "with_"));
      end = Math.max(end, other.end());
    }
    out.slice(
        track, first.start(), end, category.toString(), name.toString(), arguments.toString());
    Place place = new Place(lane.rank(), from);
    for (Arrow arrow : arriving.getOrDefault(place, List.of())) {
      out.arrive(track, first.start(), arrow.name(), arrow.id());
    }
    for (Arrow arrow : leaving.getOrDefault(place, List.of())) {
      double within = first.start() + 0.5 * (end - first.start()); // of the slice around it
      out.leave(track, within, arrow.name(), arrow.id());
    }
  }

  private static String name(Slice slice) {
    String word = Look.of(slice.kind()).word;
    return slice.microBatch() < 0 ? word : word + ' ' + slice.microBatch();
  }

  private String arguments(Slice slice, String prefix) {
    StringBuilder words = new StringBuilder();
    argument(words, prefix, "stage", slice.stage() % placement.depth());
    if (slice.microBatch() >= 0) {
      argument(words, prefix, "micro_batch", slice.microBatch());
    }
    if (placement.chains() > 1) {
      argument(words, prefix, "pipeline", slice.stage() / placement.depth());
    }
    return words.toString();
  }

  private static void argument(StringBuilder words, String prefix, String name, int value) {
    words.append(words.isEmpty() ? "\"" : ",\"").append(prefix).append(name);
    words.append("\":").append(value);
  }

  private void counter(Memory memory) throws IOException {
    boolean bytes = timeline.memoryUnit() == MemoryUnit.BYTES;
    String name =
        bytes ? "memory of stage " + memory.rank() : "activations of rank " + memory.rank();
    for (int i = 0; i < memory.seconds().length; i++) {
      double value = bytes ? Math.rint(memory.bytes()[i]) : memory.bytes()[i];
      out.counter(COMPUTE, memory.seconds()[i], name, bytes ? "bytes" : "held", value);
    }
  }
}

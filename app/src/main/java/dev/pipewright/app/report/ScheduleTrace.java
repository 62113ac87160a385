package dev.pipewright.app.report;

import dev.pipewright.app.report.ScheduleGradientPasses.HandOn;
import dev.pipewright.app.report.TraceEvents.Track;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A schedule in the JSON trace event format that Perfetto and Chrome show. Process 1 computes, with
 * a thread and a counter of activations for each rank; process 2 exchanges, with a thread for each
 * rank that does. Ops that run together are one slice. Arrows lead from the op that makes an
 * activation or gradient to the one on another rank that needs it, and to what is taken over.
 */
public final class ScheduleTrace {
  private static final int COMPUTE = 1;
  private static final int EXCHANGE = 2;

  /** Where an op is. */
  private record Place(int rank, int position) {}

  /** An arrow between two ops. */
  private record Arrow(int id, String name) {}

  private final ScheduleRun run;
  private final TraceEvents out;
  private final Map<Place, List<Arrow>> leaving = new HashMap<>();
  private final Map<Place, List<Arrow>> arriving = new HashMap<>();
  private int arrows;

  private ScheduleTrace(ScheduleRun run, TraceEvents out) {
    this.run = run;
    this.out = out;
  }

  /** The trace as text. */
  public static String of(ScheduleRun run) {
    StringBuilder text = new StringBuilder();
    try {
      write(run, text);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return text.toString();
  }

  /** Appends the trace event by event, since long ones are large. */
  public static void write(ScheduleRun run, Appendable out) throws IOException {
    TraceEvents events = TraceEvents.begin(run.title(), out);
    new ScheduleTrace(run, events).events();
    events.end();
  }

  private void events() throws IOException {
    messages();
    gradientPasses();
    out.process(COMPUTE, "computing");
    if (run.schedule().exchanging()) {
      out.process(EXCHANGE, "exchanging");
    }
    for (int rank = 0; rank < run.ranks(); rank++) {
      computing(rank);
      exchanging(rank);
    }
    for (int rank = 0; rank < run.ranks(); rank++) {
      held(rank);
    }
  }

  /** Numbers the arrows between stages on different ranks. */
  private void messages() {
    Map<Long, Place> makers = new HashMap<>(); // by stage, micro-batch and direction
    for (int rank = 0; rank < run.ranks(); rank++) {
      long[] program = run.program(rank);
      for (int i = 0; i < program.length; i++) {
        Pass pass = Schedule.pass(program[i]);
        if (pass == Pass.FORWARD || pass.propagates()) {
          makers.put(key(program[i], 0), new Place(rank, i));
        }
      }
    }
    Placement placement = run.schedule().placement();
    for (int rank = 0; rank < run.ranks(); rank++) {
      long[] program = run.program(rank);
      for (int i = 0; i < program.length; i++) {
        Pass pass = Schedule.pass(program[i]);
        int stage = Schedule.stage(program[i]);
        if (pass == Pass.FORWARD && !placement.first(stage)) {
          message(makers.get(key(program[i], -1)), new Place(rank, i), "activations");
        } else if (pass.propagates() && !placement.last(stage)) {
          message(makers.get(key(program[i], 1)), new Place(rank, i), "gradients");
        }
      }
    }
  }

  /** The op of a stage {@code further} on for the same micro-batch and direction. */
  private static long key(long op, int further) {
    Pass pass = Schedule.pass(op) == Pass.FORWARD ? Pass.FORWARD : Pass.BACKWARD;
    return Schedule.pack(pass, Schedule.stage(op) + further, Schedule.microBatch(op));
  }

  private void message(@Nullable Place from, Place to, String name) {
    if (from != null && from.rank() != to.rank() && lasts(from) && lasts(to)) {
      Arrow arrow = new Arrow(arrows++, name);
      leaving.computeIfAbsent(first(from), place -> new ArrayList<>(2)).add(arrow);
      arriving.computeIfAbsent(first(to), place -> new ArrayList<>(2)).add(arrow);
    }
  }

  /** Arrows need slices that can be seen. */
  private boolean lasts(Place place) {
    return run.end(place.rank(), place.position()) > run.start(place.rank(), place.position());
  }

  /** The first of the ops that run together with one: they share a slice. */
  private Place first(Place place) {
    int position = place.position();
    while (run.joinsPrevious(place.rank(), position)) {
      position--;
    }
    return new Place(place.rank(), position);
  }

  private void gradientPasses() {
    if (run.schedule().exchanging()) {
      for (HandOn gradientPass : ScheduleGradientPasses.of(run)) {
        message(
            new Place(gradientPass.from(), gradientPass.source()),
            new Place(gradientPass.to(), gradientPass.target()),
            "taken over");
      }
    }
  }

  private void computing(int rank) throws IOException {
    Track track = new Track(COMPUTE, 1 + rank);
    out.thread(track, "rank " + rank);
    long[] program = run.program(rank);
    for (int i = 0; i < program.length; i++) {
      if (!Schedule.pass(program[i]).exchanges() && !run.joinsPrevious(rank, i)) {
        slice(track, rank, i);
      }
    }
  }

  private void exchanging(int rank) throws IOException {
    Track track = new Track(EXCHANGE, 1 + rank);
    boolean named = false;
    long[] program = run.program(rank);
    for (int i = 0; i < program.length; i++) {
      if (Schedule.pass(program[i]).exchanges()) {
        if (!named) {
          out.thread(track, "rank " + rank);
          named = true;
        }
        slice(track, rank, i);
      }
    }
  }

  /** The op at a position with those that run together with it. */
  private void slice(Track track, int rank, int position) throws IOException {
    long[] program = run.program(rank);
    StringBuilder name = new StringBuilder(word(program[position]));
    StringBuilder category =
        new StringBuilder(ScheduleLook.of(Schedule.pass(program[position])).words);
    StringBuilder arguments = new StringBuilder(arguments(program[position], ""));
    for (int i = position + 1; i < program.length && run.joinsPrevious(rank, i); i++) {
      name.append('+').append(word(program[i]));
      category.append(',').append(ScheduleLook.of(Schedule.pass(program[i])).words);
      arguments.append(',').append(arguments(program[i], "with_"));
    }
    double start = run.start(rank, position);
    double end = run.end(rank, position);
    out.slice(track, start, end, category.toString(), name.toString(), arguments.toString());
    Place place = new Place(rank, position);
    for (Arrow arrow : arriving.getOrDefault(place, List.of())) {
      out.arrive(track, start, arrow.name(), arrow.id());
    }
    for (Arrow arrow : leaving.getOrDefault(place, List.of())) {
      out.leave(track, start + 0.5 * (end - start), arrow.name(), arrow.id());
    }
  }

  private static String word(long op) {
    return Schedule.pass(op).letter() + Schedule.microBatch(op);
  }

  private String arguments(long op, String prefix) {
    Placement placement = run.schedule().placement();
    int stage = Schedule.stage(op);
    String words =
        "\"%1$sstage\":%2$d,\"%1$smicro_batch\":%3$d"
            .formatted(prefix, stage % placement.depth(), Schedule.microBatch(op));
    return placement.chains() == 1
        ? words
        : words + ",\"%spipeline\":%d".formatted(prefix, stage / placement.depth());
  }

  private void held(int rank) throws IOException {
    ScheduleHeld held = ScheduleHeld.of(run, rank);
    String name = "activations of rank " + rank;
    for (int i = 0; i < held.seconds().length; i++) {
      double value = (double) held.counts()[i] / run.chunks();
      out.counter(COMPUTE, held.seconds()[i], name, "held", value);
    }
  }
}

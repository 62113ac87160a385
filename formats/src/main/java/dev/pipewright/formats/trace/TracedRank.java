package dev.pipewright.formats.trace;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.trace.KinetoContexts.Phase;
import dev.pipewright.trace.Intervals;
import dev.pipewright.trace.RankShares;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** What a rank's trace of PyTorch's profiler says of its steps. */
final class TracedRank {
  private static final double NANOSECONDS = 1e9;

  final Path file;
  final KinetoEvents events;
  final KinetoContexts contexts;
  final List<TraceWork> works = new ArrayList<>();
  final List<String> streams = new ArrayList<>();
  final boolean onDevice; // whether kernels were recorded
  private final long begin;
  private double[][] spans = new double[0][];

  private TracedRank(Path file, KinetoEvents events, KinetoContexts contexts) {
    this.file = file;
    this.events = events;
    this.contexts = contexts;
    this.onDevice = events.works() > 0;
    long first = Long.MAX_VALUE;
    for (int i = 0; i < events.hosts(); i++) {
      first = Math.min(first, events.hostStart.at(i));
    }
    for (int i = 0; i < events.works(); i++) {
      first = Math.min(first, events.workStart.at(i));
    }
    begin = first;
  }

  /**
   * Reads a file.
   *
   * @param whole whether to take all of it as one step
   * @throws BadInputException where it has no steps, or no work
   */
  static TracedRank read(Path file, boolean whole) {
    KinetoEvents events = KinetoReader.read(file);
    KinetoContexts contexts = new KinetoContexts(events);
    if (whole) {
      contexts.steps.clear();
      contexts.steps.add(new long[] {Long.MIN_VALUE, Long.MAX_VALUE});
    } else if (contexts.steps.isEmpty()) {
      throw BadInputException.in(
          file,
          "has no steps; call the profiler's step() after each one, or give --whole to take all"
              + " of it as one step");
    }
    TracedRank rank = new TracedRank(file, events, contexts);
    if (rank.onDevice) {
      rank.kernels();
    } else {
      rank.operators();
    }
    rank.spans = rank.spans();
    if (rank.counted().isEmpty()) {
      throw BadInputException.in(
          file, "has steps without work; record CPU or CUDA activities in them");
    }
    return rank;
  }

  private void kernels() {
    KinetoEvents.Index launches = new KinetoEvents.Index(events.launchCorrelation);
    KinetoEvents.Index externals = new KinetoEvents.Index(events.hostExternal);
    for (int i = 0; i < events.streams.size(); i++) {
      streams.add("stream " + events.streams.text(i));
    }
    for (int i = 0; i < events.works(); i++) {
      int launch = launches.last(events.workCorrelation.at(i));
      int host = KinetoEvents.NONE;
      long at = events.workStart.at(i);
      if (launch != KinetoEvents.NONE) {
        at = events.launchStart.at(launch);
        host = contexts.innermost((int) events.launchThread.at(launch), at);
      }
      if (host == KinetoEvents.NONE) {
        host = externals.last(events.workExternal.at(i));
        at = host == KinetoEvents.NONE ? at : events.hostStart.at(host);
      }
      boolean copies = events.workCopies.at(i) == 1;
      add(
          host,
          contexts.step(at),
          (int) events.workStream.at(i),
          events.workStart.at(i),
          events.workEnd.at(i),
          events.workName(i),
          copies,
          events.workBytes.at(i),
          (int) events.workGroup.at(i));
    }
  }

  /** Without a device, operators are the work: those that no other is around. */
  private void operators() {
    for (int i = 0; i < events.threads.size(); i++) {
      streams.add("thread " + events.threads.text(i).replaceFirst(".*/", ""));
    }
    for (int i = 0; i < events.hosts(); i++) {
      if (contexts.outermost[i] == i) {
        long start = events.hostStart.at(i);
        int thread = (int) events.hostThread.at(i);
        long end = events.hostEnd.at(i);
        add(i, contexts.step(start), thread, start, end, events.hostName(i), false, 0, 0);
      }
    }
  }

  private void add(
      int host,
      int step,
      int stream,
      long start,
      long end,
      String name,
      boolean copies,
      long bytes,
      int group) {
    boolean communicates = TraceWork.communicates(name);
    int layer = host == KinetoEvents.NONE ? KinetoEvents.NONE : contexts.layer[host];
    Phase phase = host == KinetoEvents.NONE ? Phase.FORWARD : contexts.phase[host];
    TraceWork.Type type =
        communicates
            ? TraceWork.Type.COMMUNICATION
            : copies
                ? TraceWork.Type.COPY
                : switch (phase) {
                  case FORWARD -> TraceWork.Type.FORWARD;
                  case BACKWARD -> TraceWork.Type.BACKWARD;
                  case UPDATE -> TraceWork.Type.UPDATE;
                };
    String called = name;
    if (communicates && host != KinetoEvents.NONE) {
      called += " by " + events.hostName(host);
    }
    long of = bytes;
    int devices = group;
    if (communicates && of <= 0 && host != KinetoEvents.NONE) {
      of = Dimensions.bytes(events.dimensions.text((int) events.hostDimensions.at(host)));
    }
    if (communicates && devices <= 0) {
      devices = Math.max(0, events.worldSize);
    }
    TraceWork work =
        new TraceWork(
            step,
            stream,
            type,
            layer,
            seconds(start),
            seconds(end),
            called,
            Math.max(0, of),
            devices);
    works.add(bytes > 0 ? work : work.gathered());
  }

  private double seconds(long nanoseconds) {
    return (nanoseconds - begin) / NANOSECONDS;
  }

  /** When the work of each step begins and ends; a step without any begins after it ends. */
  private double[][] spans() {
    double[][] all = new double[contexts.steps.size()][];
    Arrays.setAll(all, i -> new double[] {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY});
    for (TraceWork work : works) {
      if (work.step() >= 0) {
        double[] span = all[work.step()];
        span[0] = Math.min(span[0], work.start());
        span[1] = Math.max(span[1], work.end());
      }
    }
    return all;
  }

  /** Numbers of the steps to count: without the first of three or more, which compiles. */
  List<Integer> counted() {
    return IntStream.range(spans.length >= 3 ? 1 : 0, spans.length)
        .filter(step -> spans[step][0] <= spans[step][1])
        .boxed()
        .toList();
  }

  /** Whether a piece of work lies in a counted step. */
  boolean counts(TraceWork work) {
    return work.step() >= (spans.length >= 3 ? 1 : 0);
  }

  /** The counted step that took the median time. */
  int typical() {
    List<Integer> steps = new ArrayList<>(counted());
    steps.sort(Comparator.comparingDouble(step -> spans[step][1] - spans[step][0]));
    return steps.get((steps.size() - 1) / 2);
  }

  List<TraceWork> of(int step) {
    return works.stream()
        .filter(work -> work.step() == step)
        .sorted(Comparator.comparingDouble(TraceWork::start))
        .toList();
  }

  /** Begin of a step's work. */
  double start(int step) {
    return spans[step][0];
  }

  /** What the rank did in a step. */
  RankShares shares(int rank, int step) {
    Intervals[] each = {new Intervals(), new Intervals(), new Intervals()};
    for (TraceWork work : of(step)) {
      int kind = work.computes() ? 0 : work.type() == TraceWork.Type.COMMUNICATION ? 1 : 2;
      each[kind].add(work.start(), work.end());
    }
    double[] span = spans[step];
    return RankShares.of(rank, span[1] - span[0], each[0], each[1], each[2]);
  }

  /**
   * Seconds by name of the work in counted steps that is in none of these layers, the longest
   * first.
   */
  Map<String, Double> unattributed(Set<Integer> layers) {
    Map<String, Double> seconds = new LinkedHashMap<>();
    for (TraceWork work : works) {
      if (work.computes()
          && work.type() != TraceWork.Type.UPDATE
          && !layers.contains(work.layer())
          && counts(work)) {
        seconds.merge(work.name(), work.seconds(), Double::sum);
      }
    }
    Map<String, Double> sorted = new LinkedHashMap<>();
    seconds.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
    return sorted;
  }

  /** Seconds in which streams computed in counted steps. */
  double computed() {
    return works.stream()
        .filter(work -> work.computes() && counts(work))
        .mapToDouble(TraceWork::seconds)
        .sum();
  }
}

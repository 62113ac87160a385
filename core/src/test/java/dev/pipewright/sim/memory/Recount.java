package dev.pipewright.sim.memory;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory.Category;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What a rank holds at one time, counted afresh from all ops of the run: the referee. */
final class Recount {
  private final Run run;
  private final Placement placement;
  private final List<StageBytes> stages;
  private final Map<Op, Span> spans = new HashMap<>();

  private record Span(double start, double end, int position) {
    static final Span NEVER =
        new Span(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Integer.MAX_VALUE);
  }

  Recount(Run run, List<StageBytes> stages) {
    this.run = run;
    this.stages = stages;
    placement = run.schedule().placement();
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      int position = 0;
      for (Op op : run.schedule().program(rank)) {
        spans.put(op, new Span(run.start(rank, position), run.end(rank, position), position));
        position++;
      }
    }
  }

  /** The middle of every interval between two things that happen anywhere. */
  List<Double> times() {
    TreeSet<Double> events = new TreeSet<>(Set.of(0.0));
    spans.values().forEach(span -> events.addAll(List.of(span.start(), span.end())));
    for (int stage = 0; stage < placement.stages(); stage++) {
      for (int i = 0; i < run.schedule().microBatches(); i++) {
        events.addAll(List.of(run.activationAt(stage, i), run.gradientAt(stage, i)));
      }
    }
    return events.stream()
        .filter(event -> events.higher(event) != null)
        .map(event -> (event + events.higher(event)) / 2)
        .toList();
  }

  private StageBytes bytes(int stage) {
    return stages.get(stage % placement.depth());
  }

  private Span span(Op op) {
    return spans.getOrDefault(op, Span.NEVER);
  }

  private boolean has(Pass pass, int stage, int i) {
    return spans.containsKey(new Op(pass, stage, i));
  }

  private boolean started(Pass pass, int stage, int i, double time) {
    return span(new Op(pass, stage, i)).start() < time;
  }

  private boolean ended(Pass pass, int stage, int i, double time) {
    return span(new Op(pass, stage, i)).end() < time;
  }

  private boolean running(Pass pass, int stage, int i, double time) {
    return started(pass, stage, i, time) && !ended(pass, stage, i, time);
  }

  double of(Category category, int rank, double time) {
    double sum = 0;
    Set<Integer> counted = new HashSet<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) != rank) {
        continue;
      }
      boolean fresh = counted.add(stage % placement.depth());
      for (int i = 0; i < run.schedule().microBatches(); i++) {
        sum += category == Category.ACTIVATIONS ? activation(stage, i, time) : 0;
        sum += category == Category.BUFFERS ? buffers(stage, i, time) : 0;
      }
      if (fresh) {
        sum +=
            switch (category) {
              case PARAMETERS -> bytes(stage).parameters();
              case GRADIENTS -> bytes(stage).gradients();
              case OPTIMIZER -> bytes(stage).optimizer();
              case STASHED_PARAMETERS ->
                  (versions(rank, stage % placement.depth(), time) - 1) * bytes(stage).parameters();
              case ACTIVATIONS, BUFFERS -> 0;
            };
      }
    }
    return sum;
  }

  private double activation(int stage, int i, double time) {
    StageBytes bytes = bytes(stage);
    if (!started(Pass.FORWARD, stage, i, time) || ended(Pass.BACKWARD, stage, i, time)) {
      return 0;
    }
    if (has(Pass.RECOMPUTE, stage, i) && !started(Pass.RECOMPUTE, stage, i, time)) {
      return bytes.input();
    }
    double input = ended(Pass.BACKWARD_INPUT, stage, i, time) ? 0 : 1 - bytes.weightShare();
    double weight = ended(Pass.BACKWARD_WEIGHT, stage, i, time) ? 0 : bytes.weightShare();
    return (input + weight) * bytes.activation();
  }

  private Pass gradient(int stage, int i) {
    return has(Pass.BACKWARD, stage, i) ? Pass.BACKWARD : Pass.BACKWARD_INPUT;
  }

  private double buffers(int stage, int i, double time) {
    double sum = 0;
    for (Pass pass : List.of(Pass.BACKWARD, Pass.BACKWARD_INPUT, Pass.BACKWARD_WEIGHT)) {
      sum += running(pass, stage, i, time) ? bytes(stage).working() : 0;
    }
    Pass back = gradient(stage, i);
    if (!placement.last(stage)) {
      boolean sending =
          ended(Pass.FORWARD, stage, i, time) && time < run.activationAt(stage + 1, i);
      boolean waiting = run.gradientAt(stage, i) < time && !started(back, stage, i, time);
      sum += ((sending ? 1 : 0) + (waiting ? 1 : 0)) * bytes(stage).message();
    }
    if (!placement.first(stage)) {
      boolean waiting = run.activationAt(stage, i) < time && !started(Pass.FORWARD, stage, i, time);
      boolean sending = ended(back, stage, i, time) && time < run.gradientAt(stage - 1, i);
      sum += ((sending ? 1 : 0) + (waiting ? 1 : 0)) * bytes(stage - 1).message();
    }
    return sum;
  }

  /** Versions of a stage's parameters that are alive on a rank. */
  private int versions(int rank, int own, double time) {
    List<Op> updates =
        spans.keySet().stream()
            .filter(op -> op.pass() == Pass.UPDATE && isOf(op, rank, own))
            .toList();
    Set<Long> alive = new HashSet<>();
    alive.add(updates.stream().filter(op -> span(op).start() < time).count());
    for (Op op : spans.keySet()) {
      boolean inFlight =
          op.pass() == Pass.FORWARD
              && isOf(op, rank, own)
              && span(op).start() < time
              && !ended(gradient(op.stage(), op.microBatch()), op.stage(), op.microBatch(), time);
      if (inFlight) {
        alive.add(updates.stream().filter(u -> span(u).position() < span(op).position()).count());
      }
    }
    return alive.size();
  }

  private boolean isOf(Op op, int rank, int own) {
    return placement.rankOf(op.stage()) == rank && op.stage() % placement.depth() == own;
  }
}

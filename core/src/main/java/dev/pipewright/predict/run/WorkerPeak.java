package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StateBytes;
import dev.pipewright.cost.ZeroBytes;
import dev.pipewright.exchange.Segment;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.Profile;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The most bytes that a worker of a rank holds in a step, op by op, where the profile says what
 * layers need while they compute: parameters, gradients and what the update rule remembers; what
 * micro-batches in flight keep; what the op under way needs beyond that; and room for messages that
 * are about to come. What the update itself needs for a moment is left out: no more than the
 * largest parameter's size.
 */
final class WorkerPeak {
  private final StageCosts costs;
  private final Assignment assignment;
  private final Placement placement;
  private final int rank;
  private final long[] program;
  private final int slice;
  private final Map<Integer, StageNeeds> needs = new HashMap<>(); // by stage, of the first
  private final Map<Integer, StageNeeds> lastNeeds = new HashMap<>(); // of the last micro-batch
  private final Map<Integer, StateBytes> states = new HashMap<>(); // by stage of a chain
  private final Map<Integer, Integer> passed = new HashMap<>(); // that gave gradients, likewise
  private final Set<Long> again = new HashSet<>(); // computed again, by stage and micro-batch
  private double now;
  private double peak;

  /**
   * @param slice samples of a micro-batch that the worker computes
   */
  WorkerPeak(StageCosts costs, Assignment assignment, int rank, int slice) {
    this.costs = costs;
    this.assignment = assignment;
    this.placement = assignment.schedule().placement();
    this.rank = rank;
    this.program = assignment.schedule().packed(rank);
    this.slice = slice;
    Set<Integer> inTwoParts = new HashSet<>();
    for (long op : program) {
      if (Schedule.pass(op) == Pass.BACKWARD_INPUT) {
        inTwoParts.add(depth(Schedule.stage(op)));
      }
    }
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank) {
        boolean apart = inTwoParts.contains(depth(stage));
        needs.put(stage, needs(stage, 0, apart));
        lastNeeds.put(stage, needs(stage, assignment.schedule().microBatches() - 1, apart));
        states.computeIfAbsent(depth(stage), this::begun);
      }
    }
    peak = now;
  }

  private StageNeeds needs(int stage, int microBatch, boolean inTwoParts) {
    return new StageNeeds(
        costs,
        assignment.layers(stage, microBatch),
        Segment.of(assignment, depth(stage), costs.workload().chain(), RunPrediction.BUCKET_BYTES),
        slice,
        inTwoParts,
        fromElsewhere(stage),
        placement.last(stage));
  }

  private StateBytes begun(int depth) {
    StateBytes own = states(costs, assignment, rank, depth);
    now += own.resting();
    return own;
  }

  /** Of a worker of a rank. */
  private static StateBytes states(StageCosts costs, Assignment assignment, int rank, int depth) {
    if (assignment.sharding() != ZeroStage.NOTHING) {
      return new ZeroBytes(costs, assignment, depth, assignment.firstWorker(rank));
    }
    LayerRange range = assignment.stages().get(depth).range();
    int[] layers = StageNeeds.layers(costs, range);
    int passes = assignment.schedule().gradientPasses(rank, depth);
    GradientBytes sums = new GradientBytes(costs, assignment, depth);
    boolean summed = sums.summed() > sums.all() / 2; // most of them
    double bucket = assignment.overlapped() ? RunPrediction.BUCKET_BYTES : Long.MAX_VALUE;
    Profile profile = costs.workload().profile();
    double[] gradients =
        Arrays.stream(layers).mapToDouble(layer -> profile.sizes(layer).parameters()).toArray();
    double[] ofTied = GradientBytes.tied(costs.workload());
    double[] tied = Arrays.stream(layers).mapToDouble(layer -> ofTied[layer]).toArray();
    double held =
        costs.staticBytes(range.first(), range.last() + 1)
            + SharedTables.bytes(costs, assignment, assignment.firstWorker(rank), depth);
    if (assignment.updatesAhead()) {
      double leaving = Arrays.stream(gradients).sum() - Arrays.stream(tied).sum();
      return new WholeStates(held - leaving, gradients, tied, Segment.UPDATED_BYTES, passes);
    }
    return new WholeStates(held, gradients, tied, summed ? bucket : 0, passes);
  }

  private int depth(int stage) {
    return stage % placement.depth();
  }

  private StageLayers layers(int stage) {
    return assignment.stages().get(depth(stage));
  }

  private boolean fromElsewhere(int stage) {
    return !placement.first(stage) && placement.rankOf(stage - 1) != rank;
  }

  private boolean backFromElsewhere(int stage) {
    return !placement.last(stage) && placement.rankOf(stage + 1) != rank;
  }

  double bytes() {
    for (int position = 0; position < program.length; position++) {
      run(program[position], expected(position));
    }
    states.forEach((depth, own) -> reach(others(depth) + own.ending()));
    return peak;
  }

  /** Room for messages that ops behind this one will take. */
  private double expected(int position) {
    double bytes = 0;
    int end = Math.min(program.length, position + RunPrediction.OPS_AHEAD);
    for (long op : Arrays.copyOfRange(program, position + 1, Math.max(position + 1, end))) {
      int stage = Schedule.stage(op);
      LayerRange range = layers(stage).range();
      if (Schedule.pass(op) == Pass.FORWARD && fromElsewhere(stage)) {
        bytes += costs.inputBytes(range.first(), slice);
      } else if (Schedule.pass(op).propagates() && backFromElsewhere(stage)) {
        bytes += costs.inputBytes(range.last() + 1, slice);
      }
    }
    return bytes;
  }

  private void run(long op, double room) {
    int stage = Schedule.stage(op);
    boolean last = Schedule.microBatch(op) == assignment.schedule().microBatches() - 1;
    StageNeeds own = Objects.requireNonNull((last ? lastNeeds : needs).get(stage));
    StateBytes state = Objects.requireNonNull(states.get(depth(stage)));
    int before = passed.getOrDefault(depth(stage), 0);
    double beside = room + others(depth(stage));
    long key = (long) stage << 32 | Schedule.microBatch(op);
    switch (Schedule.pass(op)) {
      case FORWARD -> {
        now += own.held();
        reach(beside + own.forward(layer -> state.forward(layer, before)));
        now += own.lossGradient();
      }
      case RECOMPUTE -> {
        recompute(key, own);
        reach(beside + own.forward(layer -> state.forward(layer, before)));
      }
      case BACKWARD -> {
        now -= own.lossGradient();
        recompute(key, own);
        reach(
            beside
                + own.backward(
                    layer -> state.backward(layer, before), layer -> state.leaving(layer, before)));
        release(key, own, stage);
      }
      case BACKWARD_INPUT -> {
        now -= own.lossGradient();
        recompute(key, own);
        reach(beside + own.inputPart(layer -> state.inputPart(layer, before)));
        now += own.deferred();
      }
      case BACKWARD_WEIGHT -> {
        reach(beside + own.weightPart(layer -> state.backward(layer, before)));
        now -= own.deferred();
        release(key, own, stage);
      }
      case UPDATE, REDUCE, GATHER, HAND_ON ->
          throw new IllegalStateException("no op of a worker: " + Schedule.pass(op));
    }
  }

  /** Gradients of all stages but one. */
  private double others(int depth) {
    double bytes = 0;
    for (Map.Entry<Integer, StateBytes> each : states.entrySet()) {
      int count = passed.getOrDefault(each.getKey(), 0);
      bytes += each.getKey() == depth ? 0 : each.getValue().between(count);
    }
    return bytes;
  }

  private void reach(double beyond) {
    peak = Math.max(peak, now + beyond);
  }

  private void recompute(long key, StageNeeds own) {
    if (again.add(key)) {
      now += own.recomputed();
    }
  }

  private void release(long key, StageNeeds own, int stage) {
    now -= own.held() + (again.remove(key) ? own.recomputed() : 0);
    passed.merge(depth(stage), 1, Integer::sum);
    reach(others(-1));
  }
}

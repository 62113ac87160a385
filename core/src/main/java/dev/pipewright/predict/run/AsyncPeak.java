package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.exchange.Segment;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The most bytes that a worker of an asynchronous pipeline holds, op by op, where the profile gives
 * the layers' workspace: its stages ({@link AsyncBytes}), the activations of micro-batches in
 * flight, the workspace of the current op, and buffers of messages that are about to arrive.
 */
final class AsyncPeak {
  private final StageCosts costs;
  private final Assignment all;
  private final Placement placement;
  private final int rank;
  private final long[] program;
  private final int slice;
  private final Map<Integer, StageNeeds> needs = new HashMap<>(); // by stage
  private final Map<Integer, AsyncBytes> held = new HashMap<>(); // by stage of a chain
  private final Run run;
  private double now; // of micro-batches in flight
  private double time; // seconds since all began
  private double peak;

  /**
   * @param all steps enough to fill all stages
   * @param run of all of them: it says when what comes and goes
   * @param slice samples of a micro-batch that the worker computes
   */
  AsyncPeak(StageCosts costs, Assignment all, Run run, int rank, int slice) {
    this.costs = costs;
    this.all = all;
    this.run = run;
    this.placement = all.schedule().placement();
    this.rank = rank;
    this.program = all.schedule().packed(rank);
    this.slice = slice;
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank) {
        needs.put(stage, needs(stage));
        held.computeIfAbsent(stage % placement.depth(), this::held);
      }
    }
    reach(0);
  }

  private AsyncBytes held(int depth) {
    return all.inOnePlace()
        ? new MigratingBytes(costs, all, run, depth, rank)
        : new OwnVersions(costs, all, run, depth, rank);
  }

  private StageNeeds needs(int stage) {
    boolean fromElsewhere = !placement.first(stage) && placement.rankOf(stage - 1) != rank;
    StageLayers layers = layers(stage);
    List<Segment> segments = Segment.whole(layers, costs.workload().chain());
    return new StageNeeds(
        costs, layers, segments, slice, false, fromElsewhere, placement.last(stage));
  }

  private StageLayers layers(int stage) {
    return all.stages().get(stage % placement.depth());
  }

  double bytes() {
    for (int i = 0; i < program.length; i++) {
      AsyncBytes own =
          Objects.requireNonNull(held.get(Schedule.stage(program[i]) % placement.depth()));
      if (Schedule.pass(program[i]) == Pass.HAND_ON) {
        own.ask(i); // when the op before has ended
        reach(expected(i));
      } else {
        time = run.start(rank, i);
        reach(0);
        own.run(i);
        reach(0);
        time = (run.start(rank, i) + run.end(rank, i)) / 2; // when it needs most
        run(program[i], expected(i));
        own.ended(i);
        time = run.end(rank, i);
      }
    }
    return peak;
  }

  /** Room for messages that ops behind this one will take. */
  private double expected(int position) {
    double bytes = 0;
    int end = Math.min(program.length, position + RunPrediction.OPS_AHEAD);
    for (long op : Arrays.copyOfRange(program, position + 1, Math.max(position + 1, end))) {
      int stage = Schedule.stage(op);
      LayerRange range = layers(stage).range();
      boolean before = !placement.first(stage) && placement.rankOf(stage - 1) != rank;
      boolean behind = !placement.last(stage) && placement.rankOf(stage + 1) != rank;
      if (Schedule.pass(op) == Pass.FORWARD && before) {
        bytes += costs.inputBytes(range.first(), slice);
      } else if (Schedule.pass(op) == Pass.BACKWARD && behind) {
        bytes += costs.inputBytes(range.last() + 1, slice);
      }
    }
    return bytes;
  }

  private void run(long op, double beside) {
    switch (Schedule.pass(op)) {
      case FORWARD -> {
        StageNeeds stage = Objects.requireNonNull(needs.get(Schedule.stage(op)));
        now += stage.held();
        reach(beside + stage.forward(layer -> 0));
        now += stage.lossGradient();
      }
      case BACKWARD -> {
        StageNeeds stage = Objects.requireNonNull(needs.get(Schedule.stage(op)));
        now -= stage.lossGradient();
        now += stage.recomputed();
        reach(beside + stage.backward(layer -> 0, layer -> 0));
        now -= stage.held() + stage.recomputed();
      }
      case UPDATE -> reach(0);
      case REDUCE -> reach(beside);
      case BACKWARD_INPUT, BACKWARD_WEIGHT, RECOMPUTE, GATHER, HAND_ON ->
          throw new IllegalStateException(
              "an asynchronous pipeline has no op " + Schedule.pass(op));
    }
  }

  private void reach(double beyond) {
    double states = held.values().stream().mapToDouble(each -> each.now(time)).sum();
    peak = Math.max(peak, states + now + beyond);
  }
}

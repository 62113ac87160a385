package dev.pipewright.predict.run;

import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageLoads;
import dev.pipewright.cost.ZeroBytes;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The most bytes that the workers of a rank hold, as far as the profile says what layers need. */
final class RankBytes {
  private final StageLoads loads;
  private final Assignment assignment;
  private final Optional<Run> run;
  private final Placement placement;

  /**
   * @param assignment with enough steps that flow to have all stages at work
   * @param run of all of them where they flow
   */
  RankBytes(StageLoads loads, Assignment assignment, Optional<Run> run) {
    this.run = run;
    this.loads = loads;
    this.assignment = assignment;
    this.placement = assignment.schedule().placement();
  }

  /** A stage of a chain that a rank holds; all that it holds are split alike. */
  private int depth(int rank) {
    int stage = 0;
    while (placement.rankOf(stage) != rank) {
      stage++;
    }
    return stage % placement.depth();
  }

  /** The most bytes that each worker of a rank holds. */
  double bytes(int rank) {
    StageCosts own = loads.costs(depth(rank));
    if (own.workload().profile().saysMemory()) {
      int slice = StageCosts.slice(loads.microBatch(), assignment.replicas(rank));
      if (assignment.asyncPipeline().isPresent()) {
        return new AsyncPeak(own, assignment, run.orElseThrow(), rank, slice).bytes();
      }
      return new WorkerPeak(own, assignment, rank, slice).bytes();
    }
    return bytes(own, rank, states(own, rank));
  }

  /** Stages of a chain that a rank holds. */
  private Map<Integer, AsyncBytes> states(StageCosts own, int rank) {
    Map<Integer, AsyncBytes> states = new HashMap<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank) {
        states.computeIfAbsent(
            stage % placement.depth(),
            depth ->
                assignment.inOnePlace()
                    ? new MigratingBytes(own, assignment, run.orElseThrow(), depth, rank)
                    : new ResidentBytes(staying(own, rank, depth)));
      }
    }
    return states;
  }

  private double staying(StageCosts own, int rank, int depth) {
    return most(own, rank, depth) + olderVersions(depth) * loads.parameterBytes(depth);
  }

  private double bytes(StageCosts own, int rank, Map<Integer, AsyncBytes> states) {
    double now = 0;
    double peak = all(states, 0);
    long[] program = assignment.schedule().packed(rank);
    for (int at = 0; at < program.length; at++) {
      long op = program[at];
      AsyncBytes its = Objects.requireNonNull(states.get(Schedule.stage(op) % placement.depth()));
      if (Schedule.pass(op) == Pass.HAND_ON) {
        its.ask(at);
        continue;
      }
      double start = run.isPresent() ? run.get().start(rank, at) : 0;
      peak = Math.max(peak, all(states, start) + now);
      its.run(at);
      StageLayers stage = assignment.layers(Schedule.stage(op), Schedule.microBatch(op));
      Held held = held(own, stage, rank);
      now += Schedule.pass(op) == Pass.FORWARD ? held.bytes : 0;
      now += Schedule.pass(op).propagates() ? held.workingBytes : 0; // until the weights' gradient
      peak = Math.max(peak, all(states, start) + now);
      now -= Schedule.pass(op).releases() ? held.bytes + held.workingBytes : 0;
      its.ended(at);
    }
    return peak;
  }

  private static double all(Map<Integer, AsyncBytes> states, double time) {
    return states.values().stream().mapToDouble(each -> each.now(time)).sum();
  }

  /** Parameters, their gradients and what the update rule remembers, when they are most. */
  private double most(StageCosts own, int rank, int depth) {
    LayerRange range = assignment.stages().get(depth).range();
    if (assignment.sharding() == ZeroStage.NOTHING) {
      return own.staticBytes(range.first(), range.last() + 1)
          + SharedTables.bytes(own, assignment, assignment.firstWorker(rank), depth);
    }
    ZeroBytes sharded = new ZeroBytes(own, assignment, depth, assignment.firstWorker(rank));
    return sharded.resting() + sharded.most();
  }

  /** Of a stage's parameters, where steps flow. */
  private int olderVersions(int depth) {
    return assignment
        .asyncPipeline()
        .map(asyncPipeline -> asyncPipeline.versions(depth) - 1)
        .orElse(0);
  }

  /** What a worker of a rank holds of a micro-batch, and needs beyond that to compute it again. */
  private record Held(double bytes, double workingBytes) {}

  private Held held(StageCosts own, StageLayers layers, int rank) {
    int slice = StageCosts.slice(loads.microBatch(), assignment.replicas(rank));
    int first = layers.range().first();
    int end = layers.range().last() + 1;
    return switch (layers.recompute()) {
      case NONE -> new Held(own.heldBytes(first, end, slice), 0);
      case EXCEPT_LAST -> throw new IllegalStateException("no micro-batch is treated so");
      case STAGE_INPUT ->
          new Held(own.inputBytes(first, slice), own.recomputedBytes(first, end, slice));
      case SELECTIVE -> {
        List<LayerRange> again =
            layers.again().stream()
                .map(run -> new LayerRange(run.first() - first, run.last() - first))
                .toList();
        PartlyKept kept = PartlyKept.of(own.layers(first, end, slice), again);
        yield new Held(kept.heldBytes(), kept.workingBytes());
      }
    };
  }
}

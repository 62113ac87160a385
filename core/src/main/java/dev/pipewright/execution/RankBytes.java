package dev.pipewright.execution;

import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;

/** The most bytes that the workers of a rank hold, as far as the profile says what layers need. */
final class RankBytes {
  private final StageLoads loads;
  private final Assignment assignment;
  private final Placement placement;

  /**
   * @param assignment with enough steps that flow to have all stages at work
   */
  RankBytes(StageLoads loads, Assignment assignment) {
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
    return bytes(rank, own) - SharedOut.bytes(own, assignment, rank);
  }

  /** The same where nobody shares anything out. */
  private double bytes(int rank, StageCosts own) {
    if (own.workload().profile().saysMemory()) {
      int slice = StageCosts.slice(loads.microBatch(), assignment.replicas(rank));
      if (assignment.flow().isPresent()) {
        return new FlowPeak(own, assignment, rank, slice).bytes();
      }
      return new WorkerPeak(own, assignment, rank, slice).bytes();
    }
    double now = 0;
    List<Integer> seen = new ArrayList<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      int depth = stage % placement.depth();
      if (placement.rankOf(stage) == rank && !seen.contains(depth)) {
        LayerRange range = assignment.stages().get(depth).range();
        now += own.staticBytes(range.first(), range.last() + 1);
        now += olderVersions(depth) * loads.parameterBytes(depth);
        seen.add(depth);
      }
    }
    double peak = now;
    for (long op : assignment.schedule().packed(rank)) {
      StageLayers stage = assignment.stages().get(Schedule.stage(op) % placement.depth());
      Held held = held(own, stage, rank);
      now += Schedule.pass(op) == Pass.FORWARD ? held.bytes : 0;
      peak = Math.max(peak, now + (Schedule.pass(op).propagates() ? held.workingBytes : 0));
      now -= Schedule.pass(op).releases() ? held.bytes : 0;
    }
    return peak;
  }

  /** Of a stage's parameters, where steps flow. */
  private int olderVersions(int depth) {
    return assignment.flow().map(flow -> flow.versions(depth) - 1).orElse(0);
  }

  /** What a worker of a rank holds of a micro-batch, and needs beyond that to compute it again. */
  private record Held(double bytes, double workingBytes) {}

  private Held held(StageCosts own, StageLayers layers, int rank) {
    int slice = StageCosts.slice(loads.microBatch(), assignment.replicas(rank));
    int first = layers.range().first();
    int end = layers.range().last() + 1;
    return switch (layers.recompute()) {
      case NONE -> new Held(own.heldBytes(first, end, slice), 0);
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

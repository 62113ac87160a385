package dev.pipewright.plan;

import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Finds the plan that an assignment is of, from the programs of its ranks. */
final class AssignedPlan {
  private AssignedPlan() {}

  /** See {@link Assignment#asPlan}. */
  static Optional<PipelinePlan> of(Assignment assignment, List<Integer> devices) {
    Schedule schedule = assignment.schedule();
    int batch = assignment.batch();
    boolean whole =
        assignment.sharding() == ZeroStage.NOTHING
            && assignment.stages().stream().noneMatch(stage -> stage.split().several());
    if (!whole || !schedule.placement().straight() || batch % schedule.microBatches() != 0) {
      return Optional.empty();
    }
    List<StagePlan> made = new ArrayList<>();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      StageLayers layers = assignment.stages().get(rank);
      int first = assignment.firstWorker(rank);
      made.add(
          new StagePlan(
              layers.range().first(),
              layers.range().last(),
              devices.subList(first, first + assignment.workers().get(rank)),
              layers.recompute(),
              inFlight(schedule, rank),
              layers.again()));
    }
    int[] held = made.stream().mapToInt(StagePlan::inFlight).toArray();
    int each = batch / schedule.microBatches();
    return Arrays.stream(PipelinePolicy.values())
        .filter(policy -> samePrograms(schedule, policy.schedule(schedule.microBatches(), held)))
        .findFirst()
        .map(policy ->
            new PipelinePlan(
                policy, schedule.microBatches(), each, 1, assignment.overlapped(), made));
  }

  /** Micro-batches that a rank holds at most. */
  private static int inFlight(Schedule schedule, int rank) {
    int now = 0;
    int most = 0;
    for (long op : schedule.packed(rank)) {
      now += Schedule.pass(op) == Op.Pass.FORWARD ? 1 : 0;
      most = Math.max(most, now);
      now -= Schedule.pass(op).releases() ? 1 : 0;
    }
    return most;
  }

  private static boolean samePrograms(Schedule one, Schedule other) {
    return IntStream.range(0, one.ranks())
        .allMatch(rank -> Arrays.equals(one.packed(rank), other.packed(rank)));
  }
}

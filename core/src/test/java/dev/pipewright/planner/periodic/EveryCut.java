package dev.pipewright.planner.periodic;

import dev.pipewright.planner.periodic.PeriodicPlan.Placed;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The referee of contiguous plans: every way to cut a chain into stages. */
final class EveryCut {
  private EveryCut() {}

  /** The least value over all cuts, given the stages' loads with the transfers between them. */
  static double least(PeriodicProblem problem, ToDoubleFunction<List<StageLoad>> value) {
    return least(problem, 0, new ArrayList<>(), value);
  }

  private static double least(
      PeriodicProblem problem,
      int first,
      List<Placed> stages,
      ToDoubleFunction<List<StageLoad>> value) {
    if (first == problem.chain().layers()) {
      return value.applyAsDouble(PeriodicPlan.loads(problem.chain(), stages));
    }
    double least = Double.POSITIVE_INFINITY;
    for (int end = first + 1;
        end <= problem.chain().layers() && stages.size() < problem.devices();
        end++) {
      List<Placed> more = new ArrayList<>(stages);
      more.add(new Placed(first, end, stages.size()));
      least = Math.min(least, least(problem, end, more, value));
    }
    return least;
  }

  /** All sums of consecutive stages, ascending: where groups change. */
  static double[] sums(List<StageLoad> stages) {
    List<Double> sums = new ArrayList<>();
    for (int last = 0; last < stages.size(); last++) {
      double seconds = 0;
      for (int stage = last; stage >= 0; stage--) {
        seconds += stages.get(stage).seconds();
        sums.add(seconds);
      }
    }
    double slowest = stages.stream().mapToDouble(StageLoad::seconds).max().orElseThrow();
    return sums.stream().mapToDouble(s -> s).filter(s -> s >= slowest).sorted().toArray();
  }
}

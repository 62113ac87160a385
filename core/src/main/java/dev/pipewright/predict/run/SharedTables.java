package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.exchange.TiedStates;
import dev.pipewright.plan.Assignment;

/**
 * Tables that two layers of one worker read, where steps end with a flush: the layers share the
 * table and its optimizer state, and each has a gradient of its own until all passes have ended.
 */
final class SharedTables {
  private SharedTables() {}

  /** What a worker's stage holds of them beyond {@link StageCosts#staticBytes}. */
  static double bytes(StageCosts costs, Assignment assignment, int worker, int depth) {
    if (assignment.asyncPipeline().isPresent()) {
      return 0;
    }
    double element = costs.workload().profile().precision().bytes();
    double all = costs.workload().training().staticBytesPerParameter();
    double bytes = 0;
    for (TiedStates tied : TiedStates.of(assignment, costs.workload().chain(), worker)) {
      if (tied.depths().size() > 1 && tied.depths().get(1) == depth) {
        boolean oneStage = tied.depths().get(0) == depth;
        bytes += tied.table().numbers() * (oneStage ? element : element - all);
      }
    }
    return bytes;
  }
}

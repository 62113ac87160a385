package dev.pipewright.bench;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Recomputation;
import dev.pipewright.planner.Request.Shape;
import java.util.OptionalInt;

/**
 * How many times faster than one device three ways of training are; NaN where they do not fit.
 *
 * @param hybrid the planner's best plan
 * @param plain data parallelism that reduces gradients after the last backward pass
 * @param overlapped data parallelism that reduces them during it
 * @param words the planner's best plan
 */
record SpeedUps(double hybrid, double plain, double overlapped, String words) {

  static SpeedUps of(StageCosts costs, int globalBatch) {
    Planning any = Networks.plan(costs, request(globalBatch, Shape.ANY));
    Planning data = Networks.plan(costs, request(globalBatch, Shape.DATA_PARALLEL));
    double hybrid = any.best().map(Candidate::seconds).orElse(Double.NaN);
    return new SpeedUps(
        any.serialSeconds() / hybrid,
        any.serialSeconds() / fastest(data, false),
        any.serialSeconds() / fastest(data, true),
        any.best().map(best -> Plans.words(best.plan())).orElse("nothing fits"));
  }

  private static double fastest(Planning data, boolean overlapped) {
    return data.candidates().stream()
        .filter(one -> one.plan().overlapGradients() == overlapped)
        .mapToDouble(Candidate::seconds)
        .min()
        .orElse(Double.NaN);
  }

  private static Request request(int globalBatch, Shape shape) {
    return new Request(
        globalBatch,
        OptionalInt.empty(),
        Table5.POLICIES,
        Recomputation.WHERE_NEEDED,
        CostModel.PIPEWRIGHT,
        shape);
  }
}

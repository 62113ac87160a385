package dev.pipewright.bench.dapple;

import dev.pipewright.bench.dapple.GivenPlans.Scored;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;

/**
 * How many times faster than one device three ways of training are; NaN where they do not fit.
 *
 * @param hybrid the planner's best plan
 * @param plain data parallelism on all devices that reduces gradients after the last backward pass
 * @param overlapped data parallelism on all devices that reduces them during it
 * @param words the planner's best plan
 */
record SpeedUps(double hybrid, double plain, double overlapped, String words) {

  static SpeedUps of(StageCosts costs, int globalBatch) {
    Planning planning = Networks.plan(costs, Request.of(globalBatch));
    double hybrid = planning.best().map(Candidate::seconds).orElse(Double.NaN);
    return new SpeedUps(
        planning.serialSeconds() / hybrid,
        planning.serialSeconds() / data(costs, globalBatch, false),
        planning.serialSeconds() / data(costs, globalBatch, true),
        planning.best().map(best -> Plans.words(best.plan())).orElse("nothing fits"));
  }

  private static double data(StageCosts costs, int globalBatch, boolean overlapped) {
    return new GivenPlans(costs)
        .dataParallel(globalBatch, overlapped)
        .map(Scored::seconds)
        .orElse(Double.NaN);
  }
}

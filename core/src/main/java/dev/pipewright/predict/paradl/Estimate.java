package dev.pipewright.predict.paradl;

import dev.pipewright.plan.PipelinePlan;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/**
 * The seconds and bytes that formulas give, with what they noticed on the way.
 *
 * @param contention the largest φ among the collectives; 1 where none share a link
 * @param redundantSeconds arithmetic that several devices do alike
 * @param imbalance the busiest stage's seconds over the mean stage's; 1 without stages
 * @param plan that was priced; empty where the formulas know no plans
 * @param cheapestExchangeSeconds gradient exchange by the best algorithm, when it is asked for
 */
record Estimate(
    Phases phases,
    MemoryUse memory,
    double contention,
    double redundantSeconds,
    double imbalance,
    Optional<PipelinePlan> plan,
    DoubleSupplier cheapestExchangeSeconds) {
  /** Of formulas that know no plans. */
  Estimate(
      Phases phases,
      MemoryUse memory,
      double contention,
      double redundantSeconds,
      double imbalance,
      DoubleSupplier cheapestExchangeSeconds) {
    this(
        phases,
        memory,
        contention,
        redundantSeconds,
        imbalance,
        Optional.empty(),
        cheapestExchangeSeconds);
  }
}

package dev.pipewright.api;

import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Request;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.MonteCarlo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The plan whose steps have the least 95th percentile where durations vary from step to step.
 *
 * @param planned the answer, whose candidates are those that were simulated, the least percentile
 *     first
 * @param fastest of these, where durations do not vary; empty where nothing fits
 * @param steps of the best plan; likewise
 * @param fastestSteps of {@code fastest}; likewise
 */
public record RobustPlanned(
    Planned planned,
    Optional<Candidate> fastest,
    Jitter jitter,
    Optional<MonteCarlo> steps,
    Optional<MonteCarlo> fastestSteps) {
  /** Plans whose steps are simulated many times. */
  private static final int MOST = 16;

  private static final double P95 = 0.95;

  private record Tried(Candidate candidate, MonteCarlo steps) {
    double p95() {
      return steps.quantile(P95);
    }
  }

  /**
   * Plans as usual and for pipelines of fewer ranks, which have fewer to wait for; then simulates
   * many steps of the best.
   *
   * @param plans how a problem is planned
   * @param jitter of durations, the same for all plans
   * @param runs steps of each plan
   * @param stop from the first {@code true} on the best so far counts
   */
  static RobustPlanned of(
      Problem problem,
      Function<Problem, Planned> plans,
      Jitter jitter,
      int runs,
      BooleanSupplier stop) {
    long start = System.nanoTime();
    Planned nominal = plans.apply(problem);
    if (!nominal.isFound()) {
      return new RobustPlanned(
          nominal, Optional.empty(), jitter, Optional.empty(), Optional.empty());
    }
    List<Candidate> candidates = new ArrayList<>(few(nominal));
    int ranks = nominal.plan().placement().ranks();
    int most = problem.step().stages().isEmpty() ? ranks : 0;
    for (int fewer = 1; fewer < most && !stop.getAsBoolean(); fewer *= 2) {
      candidates.addAll(few(plans.apply(problem.withStages(fewer))));
    }
    Request request = nominal.request();
    SimulatedOracle simulator =
        new SimulatedOracle(
            request.costModel().oracle(nominal.costed().costs(), request.globalBatch()));
    List<Tried> tried =
        candidates.stream().distinct().toList().parallelStream()
            .map(each ->
                new Tried(each, simulator.simulate(each.plan(), each.estimate(), jitter, runs)))
            .sorted(
                Comparator.comparingDouble(Tried::p95)
                    .thenComparingDouble(each -> each.candidate().seconds()))
            .toList();
    Planning planning =
        nominal
            .planning()
            .of(tried.stream().map(each -> each.candidate().withP95(each.p95())).toList())
            .by(Objective.P95, bound(nominal.planning().lowerBound(), jitter));
    Planned planned =
        new Planned(
            nominal.planner(),
            nominal.costed(),
            request,
            nominal.schedule(),
            planning,
            (System.nanoTime() - start) / 1e9);
    Tried fastest =
        Collections.min(tried, Comparator.comparingDouble(each -> each.candidate().seconds()));
    return new RobustPlanned(
        planned,
        Optional.of(fastest.candidate()),
        jitter,
        Optional.of(tried.get(0).steps()),
        Optional.of(fastest.steps()));
  }

  private static List<Candidate> few(Planned found) {
    List<Candidate> all = found.planning().candidates();
    return found.isFound() ? all.subList(0, Math.min(MOST, all.size())) : List.of();
  }

  /** Stragglers only ever make steps longer; jitter may make some shorter. */
  private static LowerBound bound(LowerBound nominal, Jitter jitter) {
    return jitter.spread() == 0
        ? nominal
        : new LowerBound(0, "none is known where durations vary at random");
  }

  /** Whether another plan is the best than where durations do not vary. */
  public boolean differs() {
    return fastest.isPresent() && !planned.plan().equals(fastest.get().plan());
  }
}

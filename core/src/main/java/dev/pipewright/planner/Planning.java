package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.plan.Plan;
import java.util.List;
import java.util.Optional;

/**
 * What a planner found and why to believe it.
 *
 * @param planner the planner's name
 * @param costModel the name of the cost model that ranked the candidates
 * @param best the plan; empty when nothing fits
 * @param candidates the best and its rivals, best first
 * @param lowerBound no plan is faster under the cost model
 * @param binding what keeps the best plan from being faster, in words with numbers
 * @param serialSeconds one device doing everything, for the speed-up
 * @param search how far the search went
 */
public record Planning(
    String planner,
    String costModel,
    Optional<Candidate> best,
    List<Candidate> candidates,
    LowerBound lowerBound,
    String binding,
    double serialSeconds,
    Search search) {
  /** The name of no planner: the plan was given. */
  public static final String GIVEN = "given";

  public Planning {
    candidates = List.copyOf(candidates);
  }

  /**
   * A plan with its two times.
   *
   * @param kind {@code hybrid}, {@code data parallel}, {@code straight pipeline}, …
   * @param estimate by the cost model
   * @param simulated by the oracle that decides among the best few, where it was asked
   */
  public record Candidate(
      String kind, Plan plan, Assessment estimate, Optional<Assessment> simulated) {
    /** The simulated time where there is one, otherwise the estimate. */
    public double seconds() {
      return simulated.orElse(estimate).stepSeconds();
    }
  }

  /** A bound with its reason: {@code work / devices}. */
  public record LowerBound(double seconds, String why) {}

  /**
   * What the search did.
   *
   * @param exhaustive whether every plan of the space was considered or proven no better
   * @param labels partial plans that were built
   */
  public record Search(boolean exhaustive, long labels, String space) {}

  /** Whether nothing was searched. */
  public boolean isGiven() {
    return planner.equals(GIVEN);
  }

  /**
   * How many times as fast as one device the best plan is, simulated where it was; scores of the
   * DAPPLE authors' program are compared with each other. NaN where nothing fits.
   */
  public double speedUp() {
    boolean scored = costModel.equals(CostModel.DAPPLE_REPO.word());
    return best.map(
            plan -> serialSeconds / (scored ? plan.estimate().stepSeconds() : plan.seconds()))
        .orElse(Double.NaN);
  }

  /** The same by another planner's name. */
  Planning by(String name) {
    return new Planning(
        name, costModel, best, candidates, lowerBound, binding, serialSeconds, search);
  }

  /** The second best, where there is one. */
  public Optional<Candidate> runnerUp() {
    return candidates.size() < 2 ? Optional.empty() : Optional.of(candidates.get(1));
  }
}

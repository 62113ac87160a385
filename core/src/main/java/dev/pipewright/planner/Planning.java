package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.plan.PipelinePlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What a planner found and why to believe it.
 *
 * @param planner the planner's name
 * @param objective what it makes small
 * @param costModel the name of the cost model that ranked the candidates
 * @param best the plan; empty when nothing fits
 * @param candidates the best and its rivals, best first
 * @param lowerBound no plan has a smaller objective under the cost model
 * @param binding what keeps the objective from being smaller, in words with numbers
 * @param serialSeconds one device doing everything, for the speed-up; NaN where no times are known
 * @param search how far the search went
 */
public record Planning(
    String planner,
    Objective objective,
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

  /** Of a planner that makes the step short. */
  public Planning(
      String planner,
      String costModel,
      Optional<Candidate> best,
      List<Candidate> candidates,
      LowerBound lowerBound,
      String binding,
      double serialSeconds,
      Search search) {
    this(
        planner,
        Objective.STEP_TIME,
        costModel,
        best,
        candidates,
        lowerBound,
        binding,
        serialSeconds,
        search);
  }

  /**
   * A plan with its two times.
   *
   * @param kind {@code hybrid}, {@code data parallel}, {@code straight pipeline}, …
   * @param estimate by the cost model
   * @param simulated by the oracle that decides among the best few, where it was asked
   * @param p95 seconds that 95 of 100 steps do not exceed whose durations vary, where they were
   *     simulated
   */
  public record Candidate(
      String kind,
      PipelinePlan plan,
      Assessment estimate,
      Optional<Assessment> simulated,
      OptionalDouble p95) {
    /** Without steps whose durations vary. */
    public Candidate(
        String kind, PipelinePlan plan, Assessment estimate, Optional<Assessment> simulated) {
      this(kind, plan, estimate, simulated, OptionalDouble.empty());
    }

    /** The same with the 95th percentile of its step. */
    public Candidate withP95(double seconds) {
      return new Candidate(kind, plan, estimate, simulated, OptionalDouble.of(seconds));
    }

    /** The simulated time where there is one, otherwise the estimate. */
    public double seconds() {
      return decisive().stepSeconds();
    }

    /** The simulator's word where it was asked, otherwise the cost model's. */
    public Assessment decisive() {
      return simulated.orElse(estimate);
    }

    /** What the fullest device holds. */
    public double peakBytes() {
      return estimate.peakBytes();
    }

    /** The same with what the simulator says. */
    public Candidate simulated(Assessment said) {
      return new Candidate(kind, plan, estimate, Optional.of(said));
    }
  }

  /** A bound with its reason: {@code work / devices}. */
  public record LowerBound(double value, String why) {
    /** How far above the bound a value is, as a share of the bound; 0 without one. */
    public double gap(double above) {
      return value > 0 ? above / value - 1 : 0;
    }
  }

  /**
   * What the search did.
   *
   * @param exhaustive whether every plan of the space was considered or proven no better
   * @param labels partial plans that were built; 0 where they are not counted
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

  /** The same with other candidates, best first. */
  public Planning of(List<Candidate> others) {
    return new Planning(
        planner,
        objective,
        costModel,
        others.stream().findFirst(),
        others,
        lowerBound,
        others.stream().findFirst().map(Binding::of).orElse("memory"),
        serialSeconds,
        search);
  }

  /** The same by another planner's name. */
  Planning by(String name) {
    return new Planning(
        name, objective, costModel, best, candidates, lowerBound, binding, serialSeconds, search);
  }

  /** The same with what the simulator says of the best. */
  public Planning simulated(Assessment said) {
    Candidate decided = best.orElseThrow().simulated(said);
    List<Candidate> others = new ArrayList<>(candidates);
    others.set(0, decided);
    return new Planning(
        planner,
        objective,
        costModel,
        Optional.of(decided),
        others,
        lowerBound,
        binding,
        serialSeconds,
        search);
  }

  /**
   * The same candidates ordered by another objective.
   *
   * @param bound of that objective
   */
  public Planning by(Objective other, LowerBound bound) {
    List<Candidate> ordered =
        candidates.stream().sorted(Comparator.comparingDouble(other::of)).toList();
    return new Planning(
        planner,
        other,
        costModel,
        best.isPresent() ? ordered.stream().findFirst() : best,
        ordered,
        bound,
        binding,
        serialSeconds,
        search);
  }

  /** The objective of the best; of the first candidate where nothing fits; NaN without any. */
  public double value() {
    return best.or(() -> candidates.stream().findFirst()).map(objective::of).orElse(Double.NaN);
  }

  /** How far above the lower bound the objective is, as a share of the bound; 0 without one. */
  public double gap() {
    return lowerBound.gap(value());
  }

  /** The second best, where there is one. */
  public Optional<Candidate> runnerUp() {
    return candidates.size() < 2 ? Optional.empty() : Optional.of(candidates.get(1));
  }
}

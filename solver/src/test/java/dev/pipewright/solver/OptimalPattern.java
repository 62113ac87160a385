package dev.pipewright.solver;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.OneForwardOneBackwardStar;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pattern of k batches with the shortest period that fits into memory, the stages being placed
 * already, and the proof that none is shorter.
 *
 * <p>Paper: O. Beaumont, L. Eyraud-Dubois, A. Shilova, <i>Pipelined Model Parallelism</i>, Euro-Par
 * 2021: §3 poses the problem, theorem 2 shows it strongly NP-complete. Solved as a row of
 * constraint programs, each asking whether a period is long enough ({@code PatternModel} says how),
 * between what the busiest rank and the first stages' memory take at least and a pattern that needs
 * no search. What is proven is that no pattern is shorter by a sixtieth of a tick, the largest
 * common divisor of all passes ({@code PeriodSearch} says why).
 *
 * <p>Batches are taken in order at every op; nothing is lost, for the reason that {@link
 * OptimalSchedule} gives. Exponential; some ten to twenty passes on end, of up to 9 stages, mostly
 * take well under a second.
 */
public final class OptimalPattern {
  private OptimalPattern() {}

  /**
   * The best pattern; the answer's value is its period, of all k batches.
   *
   * <p>Throws where durations, or bytes, are not whole multiples of a common tick.
   */
  public static SolverAnswer<Pattern> of(PatternProblem problem, SearchLimit limit) {
    Holdings holdings = Holdings.of(problem);
    if (!holdings.possible()) {
      return new SolverAnswer.Impossible<>();
    }
    PeriodSearch search = new PeriodSearch(problem.stages(), limit);
    Pattern known = known(problem, search);
    return search.shortest(
        (ticks, period) -> new PatternModel(problem, holdings, ticks, period),
        Math.max(busiest(problem, search.ticks()), returning(problem, holdings, search.ticks())),
        search.clock().count(known.period()),
        known);
  }

  /**
   * A pattern of a given period in which one stage holds the fewest activations that it can, memory
   * being no object: NCA of §3.2. The answer's value is their number.
   *
   * @param period of all k batches, a multiple of the common tick of all passes
   */
  public static SolverAnswer<Pattern> fewestActivations(
      PatternProblem problem, double period, int stage, SearchLimit limit) {
    PeriodSearch search = new PeriodSearch(problem.stages(), limit);
    long length = search.clock().count(period);
    Check.that(
        Math.abs(search.clock().amount(length) - period) <= 1e-9 * period,
        "the period must be a multiple of the passes' tick: period=%s, tick=%s",
        period,
        search.clock().amount(1));
    if (length < busiest(problem, search.ticks())) {
      return new SolverAnswer.Impossible<>();
    }
    double[] unlimited = new double[problem.placement().ranks()];
    Arrays.fill(unlimited, Double.POSITIVE_INFINITY);
    return fewest(problem, Holdings.of(problem.within(unlimited)), search, length, stage);
  }

  private static SolverAnswer<Pattern> fewest(
      PatternProblem problem, Holdings holdings, PeriodSearch search, long period, int stage) {
    int bound = 1;
    boolean proven = true;
    int most = 4 * problem.batches() * search.ticks().length; // more than any pattern needs
    for (int count = 1; count <= most; count++) {
      Holdings capped = holdings.capped(stage, count);
      @Nullable Boolean exists =
          search.exists(
              (ticks, length) -> new PatternModel(problem, capped, ticks, length), period, 1);
      @Nullable Pattern best = search.best();
      if (Boolean.TRUE.equals(exists) && best != null) {
        return new SolverAnswer.Found<>(best, count, bound, proven);
      }
      proven &= exists != null;
      bound += proven ? 1 : 0;
    }
    return proven ? new SolverAnswer.Impossible<>() : new SolverAnswer.Unknown<>(bound);
  }

  /** The passes of the busiest rank for k batches. */
  private static long busiest(PatternProblem problem, long[] ticks) {
    long[] busy = new long[problem.placement().ranks()];
    for (int link = 0; link < ticks.length; link++) {
      int stage = Math.min(link, ticks.length - 1 - link);
      busy[problem.placement().rankOf(stage)] += ticks[link] * problem.batches();
    }
    return Arrays.stream(busy).max().orElse(0);
  }

  /** A stage holds each batch from there to back, and at most so many of them at once. */
  private static long returning(PatternProblem problem, Holdings holdings, long[] ticks) {
    long longest = 0;
    for (int stage = 0; stage < problem.stages().size(); stage++) {
      long there = 0;
      for (int link = stage; link < ticks.length - stage; link++) {
        there += ticks[link];
      }
      long held = holdings.most(stage);
      longest = Math.max(longest, Math.ceilDiv(there * problem.batches(), held));
    }
    return longest;
  }

  /** A pattern that needs no search. */
  private static Pattern known(PatternProblem problem, PeriodSearch search) {
    List<StageLoad> stages = problem.stages();
    if (problem.batches() == 1 && problem.placement().straight()) {
      var period = OneForwardOneBackwardStar.bestPeriod(stages, problem.capacityBytes());
      if (period.isPresent()) {
        return OneForwardOneBackwardStar.of(stages, period.getAsDouble());
      }
    }
    return oneAtATime(problem, search);
  }

  private static Pattern oneAtATime(PatternProblem problem, PeriodSearch search) {
    long[] ticks = search.ticks();
    int batches = problem.batches();
    double period = search.clock().amount(search.all() * batches);
    RepeatedOp[] ops = new RepeatedOp[ticks.length * batches];
    long now = 0;
    for (int op = 0; op < ops.length; op++) {
      int link = op % ticks.length;
      int stage = Math.min(link, ticks.length - 1 - link);
      Pass pass = link < ticks.length / 2 ? Pass.FORWARD : Pass.BACKWARD;
      double start = search.clock().amount(now);
      ops[op] = RepeatedOp.at(pass, stage, op / ticks.length, start, period, batches);
      now += ticks[link];
    }
    return Pattern.of(problem.placement(), problem.stages(), period, batches, List.of(ops));
  }
}

package dev.pipewright.solver;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * The order of a training step's passes with the shortest makespan, or span, under a cap on each
 * rank's activations, and the proof that none is shorter.
 *
 * <p>The problem is that of P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §3:
 * ranks, micro-batches, times of F, B, W and of a transfer, and a memory limit; the paper solves it
 * by a heuristic and by an integer program. Here it is a constraint program over the starts of all
 * ops ({@code ScheduleModel} says which constraints).
 *
 * <p>Micro-batches are taken in order at every stage and pass, and nothing is lost by that: they
 * are equal. Take any order that can run, keep when each stage starts a pass for some micro-batch,
 * and let the i-th such start be that of micro-batch i. If every start of one pass was late enough
 * behind that of another for the same micro-batch, the i-th start of the one is late enough behind
 * the i-th of the other. Ranks compute at the same times as before, and as many activations are
 * held.
 *
 * <p>The best of GPipe, 1F1B, ZB-H1, ZB-H2, {@code ZeroBubbleAuto} and one micro-batch at a time is
 * the search's upper bound, a closed form its lower one; where both meet nothing is searched.
 * Exponential: of up to 4 ranks and 8 micro-batches of unit passes mostly well under a second.
 */
public final class OptimalSchedule {
  private OptimalSchedule() {}

  /**
   * The best order, a schedule named {@code optimal}.
   *
   * <p>Throws where durations are not whole multiples of a common tick.
   */
  public static SolverAnswer<Schedule> of(ScheduleProblem problem, SearchLimit limit) {
    Durations durations = Durations.of(problem);
    IntegerTicks ticks = durations.ticks();
    long atLeast = ScheduleBound.of(problem, durations);
    Optional<Run> known = KnownSchedules.best(problem);
    long best =
        known.map(run -> ticks.count(KnownSchedules.value(run, problem))).orElse(Long.MAX_VALUE);
    if (best <= atLeast) {
      return found(known.orElseThrow().schedule(), problem, durations, best, true);
    }
    Search.load();
    long atMost = known.isPresent() ? best - 1 : oneAfterTheOther(problem, durations);
    ScheduleModel model = new ScheduleModel(problem, durations, atLeast, atMost);
    known.ifPresent(model::hint);
    Search search = Search.run(model.model(), limit);
    if (search.found()) {
      long bound = search.complete() ? atLeast : Math.max(atLeast, search.bound());
      return found(model.schedule(search.values()), problem, durations, bound, search.complete());
    }
    if (known.isPresent()) {
      long bound = search.impossible() ? best : atLeast;
      return found(known.get().schedule(), problem, durations, bound, search.impossible());
    }
    return search.impossible()
        ? new SolverAnswer.Impossible<>()
        : new SolverAnswer.Unknown<>(ticks.amount(atLeast));
  }

  /** Long enough for any order: at every moment something runs or travels. */
  private static long oneAfterTheOther(ScheduleProblem problem, Durations durations) {
    long once = 0;
    for (int stage = 0; stage < problem.placement().stages(); stage++) {
      once += durations.passes(stage) + durations.there()[stage] + durations.back()[stage];
    }
    return once * problem.microBatches();
  }

  private static SolverAnswer<Schedule> found(
      Schedule order, ScheduleProblem problem, Durations durations, long bound, boolean optimal) {
    Schedule schedule = renamed(order);
    Run run = StaticSimulator.run(schedule, problem.times());
    Check.that(
        KnownSchedules.fits(run, problem.cap()), "an order holds too much: order=%s", order.name());
    double value = KnownSchedules.value(run, problem);
    return new SolverAnswer.Found<>(
        schedule, value, optimal ? value : durations.ticks().amount(bound), optimal);
  }

  private static Schedule renamed(Schedule order) {
    long[][] programs = new long[order.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = order.packed(rank).clone();
    }
    return new Schedule("optimal", order.placement(), order.microBatches(), programs);
  }
}

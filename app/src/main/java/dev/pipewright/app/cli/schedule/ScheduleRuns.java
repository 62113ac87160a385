package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.RecomputeFlag;
import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.input.StepSeconds;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.schedule.JitterJson;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.EitherSimulator;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.MonteCarlo;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.steady.Period;
import java.util.Optional;

/**
 * How schedules are run that are shown: what all of them have in common, made or from files.
 *
 * @param stepTimes of updates and exchanges, as given
 * @param overlap whether ops that run together take as long as the longest
 * @param recompute whose forward passes run again, as given
 * @param ahead whether they run as ops of their own before the backward passes, not within these
 * @param simulation what else they meet
 */
public record ScheduleRuns(
    String stepTimes,
    boolean overlap,
    String recompute,
    boolean ahead,
    SimulationOptions simulation) {
  /** As a plain simulation has it. */
  public static ScheduleRuns plain(SimulationOptions simulation) {
    return new ScheduleRuns("0,0,0,0", false, RecomputeFlag.NONE, false, simulation);
  }

  /** One by its name. */
  MadeSchedule named(String name, ScheduleRequest request) {
    ScheduleNames.Named named = ScheduleNames.find(name);
    RecomputeFlag flag = RecomputeFlag.of(recompute, request.stages());
    int round = named.round().applyAsInt(request);
    flag.checkFlushes(name, round == 0);
    long before = System.nanoTime();
    ScheduleNames.Made made = generate(named, request, flag);
    checkAlone(name, made);
    request.caps(made.schedule().ranks()); // throws where they are for another number
    Schedule schedule = recomputing(made.schedule(), flag, shareOf(made.schedule()));
    double seconds = (System.nanoTime() - before) / 1e9;
    StepSeconds step = StepSeconds.of(stepTimes);
    OpTimes times =
        request
            .opTimes(schedule.placement())
            .withStep(step.times(schedule.stages(), request.chunks()));
    Work work = work(schedule, times, flag, shareOf(schedule));
    return new MadeSchedule(
        name,
        request,
        request.times() + request.replicas().words() + words(step, schedule, flag),
        step,
        made,
        run(name, work),
        jittered(work),
        round == 0 ? Optional.empty() : period(named, request, flag, round),
        seconds);
  }

  private static int[] shareOf(Schedule schedule) {
    return ScheduleRequest.shareOf(schedule.placement());
  }

  /**
   * One from a file.
   *
   * @param request what is said of it; its times are for its stages, or for shares of the ranks
   * @param shares whether they are for shares
   */
  MadeSchedule given(GivenSchedule given, ScheduleRequest request, boolean shares) {
    int[] shareOf = shares ? shareOf(given.schedule()) : given.shareOf();
    RecomputeFlag flag = RecomputeFlag.of(recompute, shares ? request.stages() : given.stages());
    request.caps(given.ranks()); // throws where they are for another number
    Schedule schedule = recomputing(given.schedule(), flag, shareOf);
    StepSeconds step = StepSeconds.of(stepTimes);
    OpTimes times =
        shares ? given.opTimesOfShares(request.times()) : given.opTimes(request.times());
    Work work = work(schedule, times.withStep(step.times(schedule.stages(), 1)), flag, shareOf);
    String words = request.times().words(shares ? "a stage" : "each stage of " + given.name());
    return new MadeSchedule(
        given.name(),
        request,
        words + words(step, schedule, flag),
        step,
        ScheduleNames.Made.by(given.schedule()),
        run(given.path(), work),
        jittered(work),
        Optional.empty(),
        0);
  }

  /** One from a file as it ran; throws where it would have to run in another way. */
  MadeSchedule recorded(GivenSchedule given, ScheduleRequest request, Run run) {
    String other =
        !recompute.equals(RecomputeFlag.NONE)
            ? "--recompute"
            : overlap ? "--overlap" : StepSeconds.of(stepTimes).isAny() ? "--step-times" : "";
    if (!other.isEmpty() || !simulation.words().isEmpty() || simulation.jitter() != null) {
      throw new BadInputException(
          "%s%s says when its ops ran, and they cannot run in another way without times of their own; add --times, like %s"
              .formatted(
                  other.isEmpty() ? "" : other + ": ", given.path(), ScheduleRequest.Times.USUAL));
    }
    request.caps(given.ranks());
    return new MadeSchedule(
        given.name(),
        request,
        "as recorded in " + given.name(),
        StepSeconds.of(stepTimes),
        ScheduleNames.Made.by(given.schedule()),
        run,
        Optional.empty(),
        Optional.empty(),
        0);
  }

  /** What is run. */
  private record Work(Schedule schedule, OpTimes times, Conditions conditions) {}

  private Work work(Schedule schedule, OpTimes times, RecomputeFlag flag, int[] shareOf) {
    OpTimes together = overlap ? times.withOverlap() : times;
    Recomputed.Selector within =
        ahead ? Recomputed.NONE : flag.selector(shareOf, schedule.microBatches());
    OpTimes all =
        together
            .withRecomputed(within)
            .on(schedule.placement(), simulation.slowness(schedule.ranks()));
    return new Work(schedule, all, simulation.conditions(Transfers.DELAYED, schedule.ranks()));
  }

  private Schedule recomputing(Schedule schedule, RecomputeFlag flag, int[] shareOf) {
    return ahead
        ? Recomputed.of(schedule, flag.selector(shareOf, schedule.microBatches()))
        : schedule;
  }

  private static Run run(String name, Work work) {
    try {
      return EitherSimulator.run(work.schedule(), work.times(), work.conditions());
    } catch (IllegalArgumentException e) {
      throw new BadInputException(
          "%s cannot run so: %s; give --transfers delayed or queued"
              .formatted(name, e.getMessage()));
    }
  }

  private Optional<JitterJson> jittered(Work work) {
    Jitter jitter = simulation.jitter();
    return jitter == null
        ? Optional.empty()
        : Optional.of(
            new JitterJson(
                jitter,
                MonteCarlo.of(
                    work.schedule(), work.times(), work.conditions(), jitter, simulation.runs())));
  }

  /** The period in a run that is long enough; empty where that would take too long. */
  private Optional<Period> period(
      ScheduleNames.Named named, ScheduleRequest request, RecomputeFlag flag, int round) {
    int ranks = Math.max(request.stages(), request.replicas().array().length);
    Period.Rounds rounds = Period.Rounds.of(ranks, round);
    if ((double) rounds.all() * round * request.stages() > SizeLimits.PASSES) {
      return Optional.empty();
    }
    ScheduleRequest longer = request.withMicroBatches(rounds.all() * round);
    Schedule made = generate(named, longer, flag).schedule();
    Schedule schedule = recomputing(made, flag, shareOf(made));
    StepSeconds step = StepSeconds.of(stepTimes);
    OpTimes times = request.opTimes(schedule.placement());
    OpTimes all = times.withStep(step.times(schedule.stages(), request.chunks()));
    Run run = run(schedule.name(), work(schedule, all, flag, shareOf(schedule)));
    return Optional.of(Period.of(run, round, rounds));
  }

  private static ScheduleNames.Made generate(
      ScheduleNames.Named named, ScheduleRequest request, RecomputeFlag flag) {
    try {
      return named.generator().apply(request.recomputing(flag.stages()));
    } catch (BadInputException e) {
      throw e; // a sentence already
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  /** An optimum is one for what the search knew. */
  private void checkAlone(String name, ScheduleNames.Made made) {
    String other = recompute.equals(RecomputeFlag.NONE) ? simulation.words() : ", recomputation";
    if (made.lowerBound().isPresent() && !other.isEmpty()) {
      throw new BadInputException(
          "%s is searched for --times and --memory-cap alone; leave out%s"
              .formatted(name, other.substring(1)));
    }
  }

  private String words(StepSeconds step, Schedule schedule, RecomputeFlag flag) {
    String recomputed =
        flag.stages().isEmpty()
            ? ""
            : ", recomputed %s %s"
                .formatted(flag.words(), ahead ? "ahead of B" : "within B, which takes F longer");
    return step.words(schedule)
        + recomputed
        + (overlap ? ", ops together as long as the longest" : "")
        + simulation.words();
  }
}

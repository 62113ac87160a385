package dev.pipewright.app.cli.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.solver.OptimalSchedule;
import dev.pipewright.solver.ScheduleProblem;
import dev.pipewright.solver.SearchLimit;
import dev.pipewright.solver.SolverAnswer;
import java.util.OptionalDouble;

/** The shortest schedule within a memory cap, found and proven by constraint programming. */
public final class SolvedSchedule {
  private static final int MOST_PLACES =
      256; // stages × micro-batches; beyond, even models are huge
  private static final double WORK_PER_SECOND = 1; // of the solver's own count, about

  private SolvedSchedule() {}

  /** Searches as long as the request allows. */
  static ScheduleNames.Made of(ScheduleRequest request) {
    if ((long) request.stages() * request.microBatches() > MOST_PLACES) {
      throw new BadInputException(
          ("%d stages × %d micro-batches are more than optimal can search; take at most %d, or"
                  + " zb-auto")
              .formatted(request.stages(), request.microBatches(), MOST_PLACES));
    }
    Placement placement = Placement.straight(request.stages());
    ScheduleProblem problem =
        new ScheduleProblem(
            placement,
            request.microBatches(),
            request.opTimes(placement),
            true,
            request.chunkCaps(request.microBatches()),
            ScheduleProblem.Goal.MAKESPAN);
    double seconds = request.timeLimit();
    SolverAnswer<Schedule> answer =
        OptimalSchedule.of(problem, new SearchLimit(seconds, seconds * WORK_PER_SECOND));
    return switch (answer) {
      case SolverAnswer.Found<Schedule> found ->
          new ScheduleNames.Made(
              found.best(),
              OptionalDouble.of(found.optimal() ? found.value() : found.bound()),
              found.optimal());
      case SolverAnswer.Impossible<Schedule> none ->
          throw new IllegalStateException("one micro-batch at a time always fits: " + none);
      case SolverAnswer.Unknown<Schedule> unknown ->
          throw new BadInputException(
              "optimal: nothing was found within %s s (%s); give more with --time-limit"
                  .formatted(seconds, unknown));
    };
  }
}

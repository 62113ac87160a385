package dev.pipewright.app.cli;

import dev.pipewright.app.report.ScheduleRun;
import dev.pipewright.app.report.ScheduleText;
import dev.pipewright.formats.JitterJson;
import dev.pipewright.formats.ScheduleJson;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.MonteCarlo;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.Simulator;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.List;
import java.util.Optional;

/**
 * A schedule that was made and run, in the forms that the command offers.
 *
 * @param step what an update and exchanges take
 * @param overlap whether ops that run together take as long as the longest
 * @param simulation what it met when it ran
 * @param made what made it, and its bound, before recomputation was put in
 * @param jitter what many runs with durations that differ took
 * @param seconds that making it took
 */
record MadeSchedule(
    String name,
    ScheduleRequest request,
    StepSeconds step,
    boolean overlap,
    SimulationOptions simulation,
    ScheduleNames.Made made,
    Run run,
    Optional<JitterJson> jitter,
    double seconds) {

  static MadeSchedule of(
      String name,
      ScheduleRequest request,
      StepSeconds step,
      boolean overlap,
      SimulationOptions simulation,
      ScheduleNames.Made made,
      Schedule schedule,
      double seconds) {
    OpTimes times =
        request
            .opTimes(schedule.placement())
            .withStep(step.times(schedule.stages(), request.chunks()));
    OpTimes all =
        (overlap ? times.withOverlap() : times)
            .on(schedule.placement(), simulation.slowness(schedule.ranks()));
    Conditions conditions = simulation.conditions(Transfers.DELAYED, schedule.ranks());
    Run run = Simulator.run(schedule, all, conditions);
    Jitter jitter = simulation.jitter();
    Optional<JitterJson> jittered =
        jitter == null
            ? Optional.empty()
            : Optional.of(
                new JitterJson(
                    jitter, MonteCarlo.of(schedule, all, conditions, jitter, simulation.runs())));
    return new MadeSchedule(name, request, step, overlap, simulation, made, run, jittered, seconds);
  }

  private String times() {
    return request.times()
        + request.replicas().words()
        + step.words(run.schedule())
        + (overlap ? ", ops together as long as the longest" : "")
        + simulation.words();
  }

  /** What reports show of it. */
  ScheduleRun shown() {
    return ShownRuns.of(
        name, request.microBatches(), times(), request.chunks(), run, request.memoryCap());
  }

  /** What many runs with durations that differ took, where that was asked for. */
  Optional<String> jitterWords() {
    return jitter.map(runs -> name + " " + runs.words(MadeSchedule::rounded));
  }

  private static String rounded(double time) {
    return ScheduleText.number(Math.round(1000 * time) / 1000.0);
  }

  /** How good it is, where that was searched for. */
  Optional<String> bound() {
    if (made.lowerBound().isEmpty()) {
      return Optional.empty();
    }
    String least = ScheduleText.number(made.lowerBound().getAsDouble());
    return Optional.of(
        made.optimal()
            ? name + ": proven, no order within the cap takes less than " + least
            : name
                + ": not proven, the optimum is "
                + least
                + " or more; a longer --time-limit may close the gap");
  }

  private void json(Writer out) {
    ScheduleJson.write(
        run,
        new ScheduleJson.Context(
            name,
            request.microBatches(),
            request.chunks(),
            request.memoryCap(),
            made.lowerBound(),
            made.optimal(),
            jitter,
            seconds),
        out);
  }

  /** The object of the first, with those of the others under the key {@code beside}. */
  static void json(List<MadeSchedule> all, PrintWriter out) {
    all.get(0).json(out);
    String separator = ",\n  \"beside\": [\n";
    for (MadeSchedule other : all.subList(1, all.size())) {
      out.print(separator);
      other.json(out);
      out.print("\n}");
      separator = ",\n";
    }
    out.print(all.size() > 1 ? "\n  ]\n}\n" : "\n}\n");
  }

  /** The same as a text. */
  static String json(List<MadeSchedule> all) {
    StringWriter text = new StringWriter();
    json(all, new PrintWriter(text));
    return text.toString();
  }
}

package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.StepSeconds;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.formats.schedule.JitterJson;
import dev.pipewright.formats.schedule.ScheduleJson;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.steady.Period;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.List;
import java.util.Optional;

/**
 * A schedule that was made or read, and run, in the forms that the command offers.
 *
 * @param times the times of its ops in words
 * @param made what made it, and its bound, before recomputation was put in
 * @param jitter what many runs with durations that differ took
 * @param period of one that never flushes
 * @param seconds that making it took
 */
public record MadeSchedule(
    String name,
    ScheduleRequest request,
    String times,
    StepSeconds step,
    ScheduleNames.Made made,
    Run run,
    Optional<JitterJson> jitter,
    Optional<Period> period,
    double seconds) {

  /** What reports show of schedules of the same work. */
  static Runs shown(List<MadeSchedule> all) {
    MadeSchedule first = all.get(0);
    List<Shown> runs = all.stream().map(MadeSchedule::shown).toList();
    return Runs.of(runs, first.request().microBatches(), first.times());
  }

  private Shown shown() {
    return new Shown(
        name,
        Recorder.timeline(run, request.memoryCap(), request.chunks()),
        period.map(each -> new Shown.Period(each.time(), each.microBatches(), each.idleShare())));
  }

  /** What many runs with durations that differ took, where that was asked for. */
  Optional<String> jitterWords() {
    return jitter.map(runs -> name + " " + runs.words(MadeSchedule::rounded));
  }

  private static String rounded(double time) {
    return Numbers.plain(Math.round(1000 * time) / 1000.0);
  }

  /** How good it is, where that was searched for. */
  Optional<String> bound() {
    if (made.lowerBound().isEmpty()) {
      return Optional.empty();
    }
    String least = Numbers.plain(made.lowerBound().getAsDouble());
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
            period,
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

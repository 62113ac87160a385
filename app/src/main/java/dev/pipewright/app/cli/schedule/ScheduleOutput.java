package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.ScheduleText;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Schedule;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;

/** Prints schedules that ran and writes their files. */
public final class ScheduleOutput {
  private ScheduleOutput() {}

  /**
   * Returns the exit status.
   *
   * @param all the one that was asked for, then those to compare it with
   */
  public static int show(
      List<MadeSchedule> all, ScheduleFiles files, boolean json, CommandLine line) {
    Runs shown = MadeSchedule.shown(all);
    Schedule schedule = all.get(0).run().schedule();
    ScheduleFiles.Made written =
        files.make(schedule, shown, () -> MadeSchedule.json(all)); // before printing
    PrintWriter out = line.getOut();
    if (json) {
      MadeSchedule.json(all, out);
    } else {
      out.print(ScheduleText.of(shown, Terminal.columns(), Terminal.colours()));
      all.forEach(made -> made.bound().ifPresent(out::println));
      all.forEach(made -> made.jitterWords().ifPresent(out::println));
    }
    files.write(written).forEach(line.getErr()::println);
    return fits(all.get(0), line.getErr()) ? 0 : Failures.NO;
  }

  private static boolean fits(MadeSchedule made, PrintWriter err) {
    int[] peaks = made.run().peakActivations();
    MemoryCap cap = made.request().memoryCap();
    for (int rank = 0; rank < peaks.length; rank++) {
      double peak = (double) peaks[rank] / made.request().chunks();
      if (cap.isExceeded(rank, peak)) {
        err.println(
            "pipewright: does not fit: rank %d holds %s activations, %s cap is %s; %s"
                .formatted(
                    rank,
                    Numbers.plain(peak),
                    cap.isEqual() ? "the" : "its",
                    Numbers.plain(cap.on(rank)),
                    "try zb-auto, or a larger --memory-cap"));
        return false;
      }
    }
    return true;
  }
}

package dev.pipewright.app.cli.plan;

import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.app.report.timeline.PerfettoTrace;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.Shown.Period;
import dev.pipewright.app.report.timeline.TimelineSvg;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.trace.Timeline;
import java.util.List;

/** The report, the picture and the trace of a plan whose pipeline never flushes. */
public final class PlanPictures {
  /** The names of the files. */
  public static final List<String> FILES = List.of("report.html", "timeline.svg", "trace.json");

  private PlanPictures() {}

  /**
   * Writes all of them.
   *
   * @param timeline of a short run
   * @param hint what the timeline shows
   * @param period of the steady state
   */
  static void write(
      OutputFolder folder, PlanSheet sheet, Timeline timeline, String hint, Period period) {
    Runs runs = Runs.of(sheet.title(), timeline, period);
    folder.write("report.html", out -> sheet.page(runs, hint, out));
    folder.write("timeline.svg", TimelineSvg.of("", runs));
    folder.write("trace.json", out -> PerfettoTrace.write(sheet.title(), timeline, out));
  }
}

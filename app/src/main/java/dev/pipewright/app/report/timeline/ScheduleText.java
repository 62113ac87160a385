package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.units.Units;
import java.util.List;

/** Schedules as text: their figures, or a table of them where they are several, and their lines. */
public final class ScheduleText {
  private static final int MOST_PEAKS = 64;

  private ScheduleText() {}

  /**
   * The figures and the lines of schedules of the same work, each line ended by a newline.
   *
   * @param width columns of a line
   * @param colours whether to use the escape sequences of terminals
   */
  public static String of(Runs runs, int width, boolean colours) {
    StringBuilder out = new StringBuilder();
    Ink ink = new Ink(colours);
    TextWidth.heading(out, ink, runs.title(), width);
    TextWidth.wrap(out, runs.subject(), width, 0);
    if (runs.areSeveral()) {
      out.append('\n');
      TerminalTable.append(out, RunTable.of(runs), width, ink);
      out.append("  ");
      TextWidth.wrap(out, RunTable.SPAN, width, 2);
      out.append("  ");
      TextWidth.wrap(out, RunTable.note(runs), width, 2);
    } else {
      figures(out, runs.first(), width);
      out.append('\n');
    }
    TimelineText.append(out, runs, width, colours);
    return out.toString();
  }

  private static void figures(StringBuilder out, Shown run, int width) {
    String idle = Units.percent(run.timeline().idleShare());
    String ofSpan = Units.percent(run.timeline().spanIdleShare());
    out.append("makespan ").append(Numbers.plain(run.makespan()));
    out.append("; idle ").append(idle).append(" of it");
    out.append(ofSpan.equals(idle) ? "" : ", " + ofSpan + " of the longest rank's span");
    out.append('\n');
    if (!run.periodWords(TimeNotation.UNITS).isEmpty()) {
      TextWidth.wrap(out, run.periodWords(TimeNotation.UNITS), width, 0);
    }
    StringBuilder words = new StringBuilder("peak activations of a stage by rank:");
    List<Memory> memory = run.timeline().memory();
    for (Memory each : memory.subList(0, Math.min(MOST_PEAKS, memory.size()))) {
      words.append(' ').append(run.amount(each.peak()));
    }
    words.append(memory.size() > MOST_PEAKS ? " …, the most " + run.amount(run.peak()) : "");
    words.append(
        run.parameterCopies() == 1
            ? ""
            : "; parameters: " + Numbers.plain(run.parameterCopies()) + " copies");
    words.append(run.isCapped() ? " (cap " + run.cap() + ")" : "");
    TextWidth.wrap(out, words.toString(), width, 0);
  }
}

package dev.pipewright.app.report;

import dev.pipewright.units.Units;
import java.util.Arrays;
import java.util.List;

/**
 * Schedules as text: their figures, and a line for each rank with time to the right; see {@link
 * ScheduleGrid}. Several have a table of their figures and the same scale of time.
 */
public final class ScheduleText {
  private static final int MOST_PEAKS = 64;

  private final List<ScheduleRun> runs;
  private final int width;
  private final Ink ink;
  private final StringBuilder out = new StringBuilder();

  private ScheduleText(List<ScheduleRun> runs, int width, boolean colours) {
    this.runs = runs;
    this.width = width;
    this.ink = new Ink(colours);
  }

  /** The figures and the grid of one schedule. */
  public static String of(ScheduleRun run, int width, boolean colours) {
    return of(List.of(run), width, colours);
  }

  /**
   * The figures and the grids of schedules of the same work, each line ended by a newline.
   *
   * @param width columns of a line
   * @param colours whether to use the escape sequences of terminals
   */
  public static String of(List<ScheduleRun> runs, int width, boolean colours) {
    ScheduleText text = new ScheduleText(runs, width, colours);
    text.head();
    ScheduleGrid grid = new ScheduleGrid(runs, width, text.ink, text.out);
    for (ScheduleRun run : runs) {
      text.out.append('\n');
      if (runs.size() > 1) {
        text.ink.paint(text.out, Ink.BOLD, run.name());
        text.out.append('\n');
      }
      grid.append(run);
    }
    grid.legend();
    return text.out.toString();
  }

  private void head() {
    TextWidth.heading(out, ink, ScheduleRun.title(runs), width);
    TextWidth.wrap(out, "op times: " + runs.get(0).times(), width, 0);
    if (runs.size() == 1) {
      figures(runs.get(0));
    } else {
      out.append('\n');
      TerminalTable.append(out, ScheduleTable.of(runs), width, ink);
      out.append("  ");
      TextWidth.wrap(out, ScheduleTable.note(runs), width, 2);
    }
  }

  private void figures(ScheduleRun run) {
    out.append("makespan ").append(number(run.makespan()));
    String idle = Units.percent(run.figures().idleShare());
    String ofSpan = Units.percent(run.figures().spanIdleShare());
    out.append("; idle ").append(idle).append(" of it");
    out.append(ofSpan.equals(idle) ? "" : ", " + ofSpan + " of the longest rank's span");
    out.append('\n');
    if (!run.period().isEmpty()) {
      TextWidth.wrap(out, run.period(), width, 0);
    }
    StringBuilder words = new StringBuilder("peak activations of a stage by rank:");
    double[] peaks = run.peaks();
    for (double peak : Arrays.copyOf(peaks, Math.min(MOST_PEAKS, peaks.length))) {
      words.append(' ').append(activations(peak));
    }
    words.append(peaks.length > MOST_PEAKS ? " …, the most " + activations(run.peak()) : "");
    words.append(run.isCapped() ? " (cap " + run.cap() + ")" : "");
    TextWidth.wrap(out, words.toString(), width, 0);
  }

  /** Activations in those of a stage, which may be parts. */
  static String activations(double count) {
    return number(Math.rint(count * 100) / 100);
  }

  /** Whole numbers as they are, others with up to six digits behind the point. */
  public static String number(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      return Long.toString((long) value);
    }
    String text = Math.abs(value) < 1e-3 ? Double.toString(value) : Units.fixed(value, 6);
    return text.contains("E") ? text : text.replaceAll("0+$", "").replaceAll("\\.$", "");
  }
}

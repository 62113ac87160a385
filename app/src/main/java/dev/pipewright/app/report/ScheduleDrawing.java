package dev.pipewright.app.report;

import dev.pipewright.app.report.ScheduleGradientPasses.HandOn;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * One schedule: a row for each rank, a cell for each op with its micro-batch in it, the later
 * stages of a rank in lighter shades, ops that run together above each other; exchanges in a thin
 * lane at the row's foot. Below, on the same axis, the activations that each rank holds.
 */
final class ScheduleDrawing {
  private static final double AXIS = 30;
  private static final double HEAD = 24;
  private static final double GAP = 3; // between strips
  private static final int MOST_ARROWS = 100;
  private static final double LEAST = 2; // an exchange that takes no time is seen
  private static final double APART = 0.6; // exchanges behind each other
  private static final String SMALL = "font-size=\"11\" class=\"soft\"";
  private static final String SMALL_END = SMALL + " text-anchor=\"end\"";

  private final ScheduleRun run;
  private final ScheduleScale scale;
  private final int[] shades;
  private final int mostShade;
  private final Svg names;
  private final Svg plot;
  private final Sheets sheets;

  /**
   * What is drawn on, next to each other; all may be the same.
   *
   * @param names gets the ranks' names, left of the scale
   * @param plot gets what lies on the scale
   * @param values gets the idle shares and peaks, right of it
   */
  record Sheets(Svg names, Svg plot, Svg values) {
    static Sheets one(Svg all) {
      return new Sheets(all, all, all);
    }
  }

  /** A drawing of {@code run}. */
  ScheduleDrawing(ScheduleRun run, ScheduleScale scale, Sheets sheets) {
    this.run = run;
    this.scale = scale;
    this.shades = run.shades();
    this.mostShade = ScheduleLegend.mostShade(run);
    this.names = sheets.names();
    this.plot = sheets.plot();
    this.sheets = sheets;
  }

  static double height(ScheduleRun run, ScheduleScale scale) {
    return HEAD + run.ranks() * (scale.row() + scale.strip() + GAP) + 2 * AXIS + HEAD;
  }

  /** Draws it below {@code top}, headed by {@code head}. */
  void draw(double top, String head) {
    double rows = top + HEAD;
    heading(rows, head, "idle");
    for (int rank = 0; rank < run.ranks(); rank++) {
      double wide = scale.x(run.makespan()) - scale.left();
      double height = scale.row() - scale.lane() - 2;
      plot.rect(scale.left(), rows + rank * scale.row() + 1, wide, height, "class=\"plot\"");
    }
    arrows(rows); // below the cells, whose numbers they would cross
    for (int rank = 0; rank < run.ranks(); rank++) {
      double y = rows + rank * scale.row();
      name(rank, y + (scale.row() - scale.lane()) / 2 + 4);
      cells(rank, y);
      exchanges(rank, y + scale.row() - scale.lane());
      value(Units.percent(run.idleShare(rank)), y + (scale.row() - scale.lane()) / 2 + 4);
    }
    double strips = rows + run.ranks() * scale.row() + AXIS + HEAD;
    axis(strips - AXIS - HEAD);
    memory(strips);
    axis(strips + run.ranks() * (scale.strip() + GAP));
  }

  private void heading(double bottom, String head, String column) {
    plot.text(scale.left(), bottom - 8, "font-size=\"13\" font-weight=\"600\" class=\"ink\"", head);
    value(column, bottom - 8);
  }

  private void name(int rank, double baseline) {
    names.text(
        scale.edge(),
        baseline,
        "font-size=\"12\" font-weight=\"600\" class=\"ink\"",
        "rank " + rank);
  }

  private void value(String words, double baseline) {
    double width = sheets.values() == plot ? scale.width() : ScheduleScale.RIGHT;
    sheets.values().text(width - 8, baseline, SMALL_END, words);
  }

  private void cells(int rank, double top) {
    double height = scale.row() - scale.lane() - 2;
    plot.open(scale.outlines(run) ? "class=\"cells\"" : "class=\"fine\"");
    long[] program = run.program(rank);
    for (int first = 0; first < program.length; ) {
      int behind = first + 1;
      while (behind < program.length && run.joinsPrevious(rank, behind)) {
        behind++;
      }
      double part = height / (behind - first);
      for (int i = first; i < behind; i++) {
        if (!Schedule.pass(program[i]).exchanges()) {
          cell(rank, i, top + 1 + (i - first) * part, part);
        }
      }
      first = behind;
    }
    plot.close();
  }

  private void cell(int rank, int position, double top, double height) {
    long op = run.program(rank)[position];
    ScheduleLook look = ScheduleLook.of(Schedule.pass(op));
    int shade = shades[Schedule.stage(op)];
    double left = scale.x(run.start(rank, position));
    double wide = scale.x(run.end(rank, position)) - left;
    String style = "class=\"" + ScheduleLegend.style(Schedule.pass(op), shade, mostShade) + '"';
    plot.rect(left, top, wide, height, style, tip(rank, position));
    String number = Integer.toString(run.number(op));
    if (wide >= 6.2 * number.length() + 1.5) {
      String words =
          "font-size=\"%d\" text-anchor=\"middle\" class=\"%s\""
              .formatted(height < 11 ? 8 : 10, look.isLight(shade, mostShade) ? "black" : "white");
      plot.text(left + wide / 2, top + height / 2 + (height < 11 ? 2.9 : 3.6), words, number);
    }
  }

  private String tip(int rank, int position) {
    long op = run.program(rank)[position];
    int stage = Schedule.stage(op);
    int depth = run.schedule().placement().depth();
    StringBuilder tip = new StringBuilder(Schedule.pass(op).letter());
    tip.append(Schedule.microBatch(op)).append(": ");
    tip.append(ScheduleLook.of(Schedule.pass(op)).words).append(" of stage ").append(stage % depth);
    if (run.schedule().placement().chains() > 1) {
      tip.append(run.runsBothWays() ? " in direction " : " of pipeline ").append(stage / depth);
    }
    if (mostShade > 0 && !run.runsBothWays()) {
      tip.append(", chunk ").append(shades[stage]);
    }
    tip.append(", rank ").append(rank).append(": ");
    tip.append(ScheduleText.number(run.start(rank, position))).append(" to ");
    return tip.append(ScheduleText.number(run.end(rank, position))).toString();
  }

  private void exchanges(int rank, double top) {
    long[] program = run.program(rank);
    for (int i = 0; i < program.length; i++) {
      Pass pass = Schedule.pass(program[i]);
      boolean shown = pass == Pass.HAND_ON || run.end(rank, i) > run.start(rank, i);
      if (pass.exchanges() && shown) {
        double left = Math.min(scale.x(run.start(rank, i)), scale.right() - LEAST);
        double wide = Math.max(LEAST, scale.x(run.end(rank, i)) - left - APART);
        String style = "class=\"" + ScheduleLegend.style(pass, 0, 0) + '"';
        plot.rect(left, top, wide, scale.lane() - 3, style, tip(rank, i));
      }
    }
  }

  /** From the lane of the rank before to that of the rank that takes over, where they are few. */
  private void arrows(double rows) {
    if (!run.schedule().exchanging()) {
      return;
    }
    List<HandOn> gradientPasses = ScheduleGradientPasses.of(run);
    if (gradientPasses.size() > MOST_ARROWS) {
      return;
    }
    plot.open("class=\"arrow\"");
    for (HandOn gradientPass : gradientPasses) {
      double from = rows + (gradientPass.from() + 1) * scale.row() - scale.lane() / 2;
      double to = rows + (gradientPass.to() + 1) * scale.row() - scale.lane() / 2;
      arrow(
          scale.x(run.start(gradientPass.to(), gradientPass.target())),
          from,
          scale.x(run.end(gradientPass.to(), gradientPass.target())),
          to);
    }
    plot.close();
  }

  private void arrow(double x1, double y1, double x2, double y2) {
    plot.line(x1, y1, x2, y2, "");
    double length = Math.hypot(x2 - x1, y2 - y1);
    double alongX = 5 * (x2 - x1) / length;
    double alongY = 5 * (y2 - y1) / length;
    StringBuilder head = new StringBuilder();
    point(head.append('M'), x2, y2);
    point(head.append('L'), x2 - alongX - alongY / 2, y2 - alongY + alongX / 2);
    point(head.append('L'), x2 - alongX + alongY / 2, y2 - alongY - alongX / 2);
    plot.path(head.append('Z'), "class=\"head\"");
  }

  /** What the strips of activations show, in words. */
  static String held(ScheduleRun run, ScheduleScale scale) {
    String cap =
        run.isCapped()
            ? "; the cap is %s%s"
                .formatted(run.cap(), scale.shows(run.memoryCap()) ? " (dashed)" : "")
            : "";
    return "in micro-batches of a stage" + cap;
  }

  private void memory(double top) {
    boolean scrolls = sheets.values() != plot; // a page says the rest above
    heading(top, "activations held" + (scrolls ? "" : ", " + held(run, scale)), "peak");
    double[] peaks = run.peaks();
    for (int rank = 0; rank < run.ranks(); rank++) {
      double floor = top + rank * (scale.strip() + GAP) + scale.strip();
      name(rank, floor - scale.strip() / 2 + 4);
      double right = scale.x(run.makespan());
      plot.rect(
          scale.left(),
          floor - scale.strip(),
          right - scale.left(),
          scale.strip(),
          "class=\"plot\"");
      plot.path(area(rank, floor), "class=\"held\"");
      plot.line(scale.left(), floor, right, floor, "class=\"axis\"");
      limit(rank, floor);
      String mark = run.exceedsCap(rank) ? "! " : "";
      value(mark + ScheduleText.activations(peaks[rank]), floor - scale.strip() / 2 + 4);
    }
  }

  /** The rank's own cap, where it is not far above. */
  private void limit(int rank, double floor) {
    double cap = run.memoryCap().on(rank);
    if (scale.shows(cap)) {
      double line = floor - cap / scale.most() * scale.strip();
      plot.line(scale.left(), line, scale.x(run.makespan()), line, "class=\"limit\"");
    }
  }

  private StringBuilder area(int rank, double floor) {
    ScheduleHeld held = ScheduleHeld.of(run, rank);
    double each = scale.strip() / scale.most() / run.chunks();
    StringBuilder path = new StringBuilder();
    point(path.append('M'), scale.left(), floor);
    double before = floor;
    for (int i = 0; i < held.seconds().length; i++) {
      double x = scale.x(held.seconds()[i]);
      double y = floor - held.counts()[i] * each;
      point(path.append('L'), x, before);
      point(path.append('L'), x, y);
      before = y;
    }
    double right = scale.x(run.makespan());
    point(path.append('L'), right, before);
    point(path.append('L'), right, floor);
    return path.append('Z');
  }

  private static void point(StringBuilder path, double x, double y) {
    Numbers.appendShort(path, x);
    path.append(' ');
    Numbers.appendShort(path, y);
  }

  private void axis(double y) {
    names.text(scale.edge(), y + 17, SMALL, "time");
    plot.line(scale.left(), y, scale.right(), y, "class=\"axis\"");
    Ticks ticks = Ticks.of(scale.makespan(), (int) Math.max(3, scale.plot() / 90));
    for (int tick = 0; tick < ticks.count(); tick++) {
      double x = scale.x(ticks.at(tick));
      plot.line(x, y, x, y + 4, "class=\"axis\"");
      String words = ScheduleText.number(ticks.at(tick));
      plot.text(x, y + 17, SMALL + (tick == 0 ? "" : " text-anchor=\"middle\""), words);
    }
  }
}

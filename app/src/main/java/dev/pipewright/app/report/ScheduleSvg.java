package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Units;
import java.util.Arrays;

/**
 * A schedule as the picture that papers draw: a row for each rank, time to the right, a cell for
 * each op with its micro-batch in it; the later stages of a rank in lighter shades, ops that run
 * together in one cell, above each other; below, on the same axis, the activations that each rank
 * holds.
 */
public final class ScheduleSvg {
  /** Ops of the largest picture. */
  public static final int MOST_OPS = 60_000;

  private static final double LEFT = 76;
  private static final double RIGHT = 84; // peaks
  private static final double HEAD = 104;
  private static final double AXIS = 36;
  private static final double WIDTH = 1200;
  private static final double WIDEST = 12_000;
  private static final double STRIP = 20;
  private static final String GREY = "fill=\"#4A5058\"";

  private final ScheduleRun run;
  private final int[] chunkOf;
  private final int mostChunks;
  private final double width;
  private final double row;

  private ScheduleSvg(ScheduleRun run) {
    this.run = run;
    this.chunkOf = run.chunkOf();
    this.mostChunks = Arrays.stream(chunkOf).max().orElse(0);
    this.width = LEFT + RIGHT + Math.clamp(longest() * 9, WIDTH - LEFT - RIGHT, WIDEST);
    this.row = run.schedule().ranks() <= 16 ? 30 : 18;
  }

  /** The picture of at most {@link #MOST_OPS} ops. */
  public static String of(ScheduleRun run) {
    return new ScheduleSvg(run).document();
  }

  /** Ops of the longest program. */
  private int longest() {
    int longest = 1;
    for (double[] starts : run.starts()) {
      longest = Math.max(longest, starts.length);
    }
    return longest;
  }

  private double x(double seconds) {
    return LEFT + (run.makespan() > 0 ? seconds / run.makespan() : 0) * (width - LEFT - RIGHT);
  }

  private String document() {
    int ranks = run.schedule().ranks();
    double bottom = HEAD + ranks * row;
    double memoryTop = bottom + AXIS + 30;
    double end = memoryTop + ranks * (STRIP + 3);
    Svg svg = new Svg(width, end + AXIS, "schedule " + run.title());
    head(svg);
    for (int rank = 0; rank < ranks; rank++) {
      label(svg, "rank " + rank, HEAD + rank * row + row / 2 + 4);
      cells(svg, rank, HEAD + rank * row);
    }
    axis(svg, bottom);
    memory(svg, memoryTop);
    axis(svg, end);
    return svg.end();
  }

  private static void label(Svg svg, String words, double baseline) {
    svg.text(16, baseline, "font-size=\"12\" font-weight=\"600\" fill=\"#1A1D21\"", words);
  }

  private void head(Svg svg) {
    svg.text(16, 30, "font-size=\"18\" font-weight=\"600\" fill=\"#1A1D21\"", run.title());
    String figures =
        "makespan %s; idle %s of it, %s of the longest rank's span; op times: %s"
            .formatted(
                ScheduleText.number(run.makespan()),
                Units.percent(run.idleShare()),
                Units.percent(run.spanIdleShare()),
                run.times());
    svg.text(16, 52, "font-size=\"12\" " + GREY, TextWidth.cut(figures, 170));
    SvgLegend legend = new SvgLegend(svg, 16, 80);
    for (Pass pass : run.passes()) {
      legend.add(fill(pass, 0), ScheduleText.words(pass));
    }
    if (mostChunks > 0) {
      legend.add(fill(Pass.FORWARD, mostChunks), "lighter: a rank's later stages");
    }
  }

  /** Okabe and Ito's colours, towards white for later chunks. */
  private String fill(Pass pass, int chunk) {
    int colour =
        switch (pass) {
          case FORWARD -> 0x0072B2;
          case BACKWARD -> 0xE69F00;
          case BACKWARD_INPUT -> 0xD55E00;
          case BACKWARD_WEIGHT -> 0x009E73;
          case RECOMPUTE -> 0xCC79A7;
          case UPDATE, REDUCE, GATHER, HAND_ON -> 0x999999;
        };
    double white = mostChunks == 0 ? 0 : 0.6 * chunk / mostChunks;
    StringBuilder text = new StringBuilder("#");
    for (int shift = 16; shift >= 0; shift -= 8) {
      int part = colour >> shift & 0xFF;
      int mixed = (int) Math.round(part + white * (255 - part));
      text.append(Character.forDigit(mixed >> 4, 16)).append(Character.forDigit(mixed & 15, 16));
    }
    return text.toString();
  }

  private String ink(Pass pass, int chunk) {
    boolean light = pass == Pass.BACKWARD || pass == Pass.RECOMPUTE || 2 * chunk > mostChunks;
    return light ? "#000000" : "#FFFFFF";
  }

  private void cells(Svg svg, int rank, double top) {
    svg.rect(LEFT, top + 1, width - LEFT - RIGHT, row - 2, "fill=\"#F4F5F6\"");
    svg.open("stroke=\"#FFFFFF\" stroke-width=\"0.8\"");
    long[] program = run.schedule().packed(rank);
    for (int i = 0; i < program.length; i++) {
      boolean second = run.joinsPrevious(rank, i);
      boolean pair = second || Schedule.isJoined(program[i]);
      double height = (row - 2) / (pair ? 2 : 1);
      cell(svg, rank, i, top + 1 + (second ? height : 0), height);
    }
    svg.close();
  }

  private void cell(Svg svg, int rank, int position, double top, double height) {
    long op = run.schedule().packed(rank)[position];
    Pass pass = Schedule.pass(op);
    int chunk = chunkOf[Schedule.stage(op)];
    double start = run.starts()[rank][position];
    double end = run.ends()[rank][position];
    double left = x(start);
    double wide = x(end) - left;
    String tip =
        "%s of stage %d, micro-batch %d: %s to %s"
            .formatted(
                ScheduleText.words(pass),
                Schedule.stage(op),
                Schedule.microBatch(op),
                ScheduleText.number(start),
                ScheduleText.number(end));
    svg.rect(left, top, wide, height, "fill=\"" + fill(pass, chunk) + '"', tip);
    String number = Integer.toString(Schedule.microBatch(op));
    if (wide >= 6.4 * number.length() + 2) {
      String style =
          "font-size=\"10\" text-anchor=\"middle\" stroke=\"none\" fill=\""
              + ink(pass, chunk)
              + '"';
      svg.text(left + wide / 2, top + height / 2 + 3.5, style, number);
    }
  }

  private void memory(Svg svg, double top) {
    svg.text(
        16, top - 10, "font-size=\"12\" " + GREY, "activations held, of a stage and micro-batch");
    svg.text(width - 12, top - 10, "font-size=\"11\" text-anchor=\"end\" " + GREY, "peak");
    int most = Math.max(1, Arrays.stream(run.peaks()).max().orElse(1));
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      double floor = top + rank * (STRIP + 3) + STRIP;
      label(svg, "rank " + rank, floor - 5);
      svg.line(LEFT, floor, width - RIGHT, floor, "stroke=\"#C4C9CE\"");
      svg.path(area(rank, floor, STRIP / most), "fill=\"#8A939C\"");
      String peak = ScheduleText.number((double) run.peaks()[rank] / run.chunks());
      svg.text(width - 12, floor - 5, "font-size=\"11\" text-anchor=\"end\" " + GREY, peak);
    }
  }

  /** Steps up where a forward pass starts and down where its activations are free. */
  private StringBuilder area(int rank, double floor, double scale) {
    StringBuilder path = new StringBuilder();
    long[] program = run.schedule().packed(rank);
    int held = 0;
    point(path.append('M'), LEFT, floor);
    for (int i = 0; i < program.length; i++) {
      Pass pass = Schedule.pass(program[i]);
      if (pass == Pass.FORWARD || pass.releases()) {
        double at = x(pass == Pass.FORWARD ? run.starts()[rank][i] : run.ends()[rank][i]);
        point(path.append('L'), at, floor - held * scale);
        held += pass == Pass.FORWARD ? 1 : -1;
        point(path.append('L'), at, floor - held * scale);
      }
    }
    point(path.append('L'), width - RIGHT, floor - held * scale);
    point(path.append('L'), width - RIGHT, floor);
    return path.append('Z');
  }

  private static void point(StringBuilder path, double x, double y) {
    Numbers.appendShort(path, x);
    path.append(' ');
    Numbers.appendShort(path, y);
  }

  private void axis(Svg svg, double y) {
    svg.line(LEFT, y, width - RIGHT, y, "stroke=\"#7A828B\"");
    Ticks ticks = Ticks.of(run.makespan(), 13);
    for (int tick = 0; tick < ticks.count(); tick++) {
      double x = x(ticks.at(tick));
      svg.line(x, y, x, y + 4, "stroke=\"#7A828B\"");
      svg.text(
          x,
          y + 17,
          "font-size=\"11\" text-anchor=\"middle\" " + GREY,
          ScheduleText.number(ticks.at(tick)));
    }
  }
}

package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A step as text, one line per stage or run of equal stages, time to the right:
 *
 * <pre>
 * stage 0 │0░1░2░····0███1███2███│ 25.0 %
 * stage 1 │··0░0███1░1███2░2███··│ 25.0 %
 *         └┴─────────┴─────────┴──
 * </pre>
 *
 * Where the shortest pass is two cells or more, each begins with its micro-batch modulo 10; where
 * it is shorter, a cell shows what takes most of it, or that a quarter of it and more is forward
 * and another backward; one that is idle for a part is filled as far as it is busy.
 */
public final class TimelineText {
  private static final Look[] LOOKS = Look.values();
  private static final char IDLE = '·';
  private static final char BOTH = '▓';
  private static final String EIGHTHS = "▏▎▍▌▋▊▉";
  private static final int IDLE_COLUMN = 8; // "  9.3 %" and a blank
  private static final int MOST_LINES = 16; // of stages that are alike

  private final Timeline timeline;
  private final Ink ink;
  private final List<List<Lane.Compute>> groups; // a line for each
  private final int gutter;
  private final int cells;
  private final boolean fine;
  private final StringBuilder out = new StringBuilder();
  private boolean both; // whether the mark occurs
  private boolean partly;
  private boolean idle;
  private boolean numbered;
  private int largest; // micro-batch with a number
  private boolean folded;

  private TimelineText(Timeline timeline, int width, boolean colours) {
    this.timeline = timeline;
    this.ink = new Ink(colours);
    int last = 0;
    for (Lane.Compute lane : timeline.compute()) {
      last = Math.max(last, lane.rank());
    }
    this.groups = groups(timeline.compute());
    int number = Integer.toString(last).length();
    boolean folds = groups.stream().anyMatch(group -> group.size() > 1);
    this.gutter = "stage ".length() + (folds ? 2 * number + 1 : number) + 1;
    this.cells = Math.max(10, width - gutter - 2 - IDLE_COLUMN);
    this.fine = shortestPass() * cells >= 2 * timeline.stepSeconds();
  }

  /** The timeline in {@value TerminalReport#WIDTH} columns, without colours. */
  public static String of(Timeline timeline) {
    return of(timeline, TerminalReport.WIDTH, false);
  }

  /**
   * The timeline, each line ended by a newline.
   *
   * @param width columns of a line
   * @param colours whether to use the escape sequences of terminals
   */
  public static String of(Timeline timeline, int width, boolean colours) {
    return new TimelineText(timeline, width, colours).text();
  }

  private static boolean isPass(Kind kind) {
    return kind == Kind.FORWARD || kind == Kind.BACKWARD;
  }

  private double shortestPass() {
    double shortest = Double.POSITIVE_INFINITY;
    for (Lane.Compute lane : timeline.compute()) {
      for (Slice slice : lane.slices()) {
        if (isPass(slice.kind())) {
          shortest = Math.min(shortest, slice.seconds());
        }
      }
    }
    return shortest;
  }

  private String text() {
    if (timeline.stepSeconds() > 0) {
      TextWidth.repeat(out, ' ', gutter + cells + 2 + IDLE_COLUMN - "idle".length());
      ink.paint(out, Ink.DIM, "idle");
      out.append('\n');
      groups.forEach(this::lane);
      axis();
    }
    legend();
    return out.toString();
  }

  /**
   * Where there are more than {@value #MOST_LINES} stages, neighbours whose passes take the same
   * time come together, so that runs of them take about that many lines in all.
   */
  private static List<List<Lane.Compute>> groups(List<Lane.Compute> lanes) {
    int most = lanes.size() <= MOST_LINES ? 1 : Math.ceilDiv(lanes.size(), MOST_LINES - 4);
    List<List<Lane.Compute>> groups = new ArrayList<>();
    for (Lane.Compute lane : lanes) {
      List<Lane.Compute> last = groups.isEmpty() ? List.of() : groups.get(groups.size() - 1);
      if (last.isEmpty() || last.size() == most || !alike(last.get(0), lane)) {
        last = new ArrayList<>();
        groups.add(last);
      }
      last.add(lane);
    }
    return groups;
  }

  /** Whether the passes of two stages are as many and take the same time in all. */
  private static boolean alike(Lane.Compute one, Lane.Compute other) {
    double[] first = passSeconds(one);
    double[] second = passSeconds(other);
    for (int kind = 0; kind < first.length; kind++) {
      if (Math.abs(first[kind] - second[kind]) > 1e-3 * Math.max(first[kind], second[kind])) {
        return false;
      }
    }
    return true;
  }

  private static double[] passSeconds(Lane.Compute lane) {
    double[] seconds = new double[LOOKS.length];
    for (Slice slice : lane.slices()) {
      Look look = Look.of(slice.kind());
      seconds[look.ordinal()] += isPass(slice.kind()) ? slice.seconds() : 0;
    }
    return seconds;
  }

  private void lane(List<Lane.Compute> group) {
    Lane.Compute lane = group.get(0);
    folded |= group.size() > 1;
    String stages = Words.range(lane.rank(), group.get(group.size() - 1).rank());
    TextWidth.pad(out, "stage " + stages, gutter, false);
    out.append('│');
    paint(fine ? inDetail(lane) : byMajority(lane));
    out.append('│');
    String idle = Units.percent(timeline.idleShare(lane.rank()));
    TextWidth.pad(out, idle, IDLE_COLUMN, true);
    out.append('\n');
  }

  /** One line of cells and the number of the look of each, or -1. */
  private static final class Cells {
    final char[] letters;
    final int[] looks;

    Cells(int count) {
      letters = new char[count];
      looks = new int[count];
      Arrays.fill(letters, IDLE);
      Arrays.fill(looks, -1);
    }

    void put(int cell, char letter, Look look) {
      letters[cell] = letter;
      looks[cell] = look.ordinal();
    }
  }

  /** A slice takes the cells of which it covers at least half; ties go to the earlier one. */
  private Cells inDetail(Lane.Compute lane) {
    Cells line = new Cells(cells);
    double perCell = timeline.stepSeconds() / cells;
    for (Slice slice : lane.slices()) {
      Look look = Look.of(slice.kind());
      int from = (int) Math.ceil(slice.start() / perCell - 0.5 + 1e-9);
      int to = Math.min(cells, (int) Math.ceil(slice.end() / perCell - 0.5 + 1e-9));
      for (int cell = Math.max(0, from); cell < to; cell++) {
        boolean begins = cell == from && isPass(slice.kind()) && slice.microBatch() >= 0;
        numbered |= begins;
        largest = begins ? Math.max(largest, slice.microBatch()) : largest;
        char letter = begins ? (char) ('0' + slice.microBatch() % 10) : look.shade;
        line.put(cell, letter, look);
      }
    }
    return line;
  }

  private Cells byMajority(Lane.Compute lane) {
    Cells line = new Cells(cells);
    double[][] shares = Lanes.shares(lane, timeline.stepSeconds(), cells);
    for (int cell = 0; cell < cells; cell++) {
      double idle = 1;
      int most = 0;
      for (int kind = 0; kind < shares.length; kind++) {
        idle -= shares[kind][cell];
        most = shares[kind][cell] > shares[most][cell] ? kind : most;
      }
      boolean mixed = Math.min(shares[0][cell], shares[1][cell]) >= 0.25; // forward, backward
      int eighths = (int) Math.round(8 * (1 - idle));
      if (eighths == 8 || (mixed && eighths >= 4)) {
        both |= mixed;
        line.put(cell, mixed ? BOTH : LOOKS[most].shade, LOOKS[most]);
      } else if (eighths > 0) {
        partly = true;
        line.put(cell, EIGHTHS.charAt(eighths - 1), LOOKS[most]);
      }
    }
    return line;
  }

  private void paint(Cells line) {
    for (int from = 0; from < cells; ) {
      int to = from;
      while (to < cells && line.looks[to] == line.looks[from]) {
        to++;
      }
      int look = line.looks[from];
      idle |= look < 0;
      String run = new String(line.letters, from, to - from);
      ink.paint(out, look < 0 ? Ink.DIM : LOOKS[look].ansi, run);
      from = to;
    }
  }

  private void axis() {
    Ticks ticks = Ticks.of(timeline.stepSeconds(), Math.max(3, cells / 10));
    char[] marks = new char[cells + 1];
    Arrays.fill(marks, '─');
    StringBuilder labels = new StringBuilder();
    for (int tick = 0; tick < ticks.count(); tick++) {
      int cell = (int) Math.round(ticks.at(tick) / timeline.stepSeconds() * cells);
      marks[cell] = tick == 0 ? '└' : '┴';
      String label = ticks.label(tick) + (tick == 0 ? " " + ticks.unit() : "");
      int start = gutter + cell - (tick == 0 ? 0 : label.length() / 2);
      if (start > labels.length() || tick == 0) {
        TextWidth.repeat(labels, ' ', start - labels.length());
        labels.append(label);
      }
    }
    TextWidth.repeat(out, ' ', gutter);
    out.append(marks).append('\n').append(labels).append('\n');
  }

  private void legend() {
    boolean[] kinds = Lanes.kinds(timeline);
    List<String> entries = new ArrayList<>();
    for (Look look : LOOKS) {
      boolean ofCompute = !look.transfers();
      if (ofCompute && kinds[look.ordinal()]) {
        entries.add(look.shade + " " + look.word);
      }
    }
    if (both) {
      entries.add(BOTH + " forward and backward");
    }
    if (partly) {
      entries.add("▏–▉ partly idle");
    }
    if (idle) {
      entries.add(IDLE + " idle");
    }
    if (numbered) {
      entries.add("digits: micro-batch" + (largest < 10 ? "" : " modulo 10"));
    }
    if (folded) {
      entries.add("a line for equal stages shows the first");
    }
    LegendLine.append(out, entries, gutter, gutter + cells + 2 + IDLE_COLUMN);
  }
}

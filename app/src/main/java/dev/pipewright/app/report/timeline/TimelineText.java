package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.chart.Ticks;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.LegendLine;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Runs as lines of text, time to the right, all on one scale:
 *
 * <pre>
 * 0 │F0 F1 F2    B0━━━ F3 B1━━━│
 * 1 │   F0 F1 B0━━━ F2 B1━━━   │
 * </pre>
 *
 * Where the lines hold it, each op shows its letter and number in as many columns as it takes units
 * of time; otherwise each column shows what runs at its middle, by its letter alone where there is
 * no room. Where ops are shorter than a column, one shows what takes most of it, or that a quarter
 * of it and more is forward and another backward, and is filled as far as its rank is busy. Every
 * second stage of a rank has small letters; where a rank runs all stages, as in data parallelism,
 * the numbers are stages. Exchanges that overlap computation have a line below their rank's. Then
 * come the activations that each rank holds, as bars. A step of a plan has a time axis and the idle
 * share of each stage instead, and beyond {@value EqualLanes#MOST_STAGES} stages equal ones share a
 * line.
 */
public final class TimelineText {
  private static final int MOST_RANKS = 64;
  private static final int MOST_STRIPS = 16;
  private static final String BARS = " ▁▂▃▄▅▆▇█";
  private static final String EIGHTHS = "▏▎▍▌▋▊▉";
  private static final char BOTH = '▓';
  private static final int IDLE_COLUMN = 8; // "  9.3 %" and a blank

  private final Runs runs;
  private final Ink ink;
  private final StringBuilder out;
  private final boolean ofPlan;
  private final int gutter;
  private final int columns;
  private final TextScale scale;
  private boolean both; // whether the mark occurs
  private boolean partly;
  private boolean folded;

  private TimelineText(Runs runs, int width, boolean colours, StringBuilder out) {
    this.runs = runs;
    this.ink = new Ink(colours);
    this.out = out;
    this.ofPlan = runs.haveDevices();
    this.gutter = gutter(runs, ofPlan);
    this.columns = Math.max(10, width - gutter - 2 - (ofPlan ? IDLE_COLUMN : 0));
    this.scale = new TextScale(runs, columns);
  }

  /** The step of a plan as lines, each ended by a newline. */
  public static String of(Runs runs, int width, boolean colours) {
    StringBuilder out = new StringBuilder();
    append(out, runs, width, colours);
    return out.toString();
  }

  /**
   * Appends the runs, each below its name where they are several, and what letters mean.
   *
   * @param width columns of a line
   * @param colours whether to use the escape sequences of terminals
   */
  static void append(StringBuilder out, Runs runs, int width, boolean colours) {
    TimelineText text = new TimelineText(runs, width, colours, out);
    for (Shown run : runs.all()) {
      if (runs.areSeveral()) {
        out.append('\n');
        text.ink.paint(out, Ink.BOLD, run.name());
        out.append('\n');
      }
      if (runs.makespan() > 0) {
        text.append(run);
      }
    }
    text.legend();
  }

  private static int gutter(Runs runs, boolean ofPlan) {
    int digits = Integer.toString(Math.max(0, runs.ranks() - 1)).length();
    boolean folds =
        ofPlan && EqualLanes.of(runs.first()).stream().anyMatch(group -> group.size() > 1);
    return (ofPlan ? "stage ".length() : 0) + (folds ? 2 * digits + 1 : digits) + 1;
  }

  private void append(Shown run) {
    if (ofPlan) {
      TextWidth.repeat(out, ' ', gutter + scale.columns(run) + 2 + IDLE_COLUMN - "idle".length());
      ink.paint(out, Ink.DIM, "idle");
      out.append('\n');
      EqualLanes.of(run).forEach(group -> stages(run, group));
      axis(run);
      return;
    }
    List<Lane.Compute> ranks = run.ranks();
    int shown = Math.min(MOST_RANKS, ranks.size());
    for (Lane.Compute rank : ranks.subList(0, shown)) {
      rank(run, rank, Integer.toString(rank.rank()), "");
    }
    if (shown < ranks.size()) {
      out.append("and ").append(Words.count(ranks.size() - shown, "rank")).append(" more\n");
    }
    out.append('\n');
    if (ranks.size() <= MOST_STRIPS) {
      for (Memory memory : run.timeline().memory()) {
        line(Integer.toString(memory.rank()), held(run, memory), "");
      }
    }
  }

  private void stages(Shown run, List<Lane.Compute> group) {
    Lane.Compute lane = group.get(0);
    folded |= group.size() > 1;
    String stages = Words.range(lane.rank(), group.get(group.size() - 1).rank());
    StringBuilder idle = new StringBuilder();
    TextWidth.pad(idle, Units.percent(run.timeline().idleShare(lane.rank())), IDLE_COLUMN, true);
    rank(run, lane, Lanes.word(run.timeline()) + " " + stages, idle.toString());
  }

  private void rank(Shown run, Lane.Compute lane, String name, String value) {
    if (scale.shaded()) {
      line(name, shares(run, lane), value);
      return;
    }
    boolean apart = run.overlaps() && run.timed().stream().anyMatch(Look::exchanges);
    line(name, ops(run, lane, true, !apart), value);
    if (apart) {
      line("", ops(run, lane, false, true), "");
    }
  }

  /** What a line shows, with the terminal's colour of each column; empty for none. */
  private static final class Line {
    final char[] letters;
    final String[] styles;

    Line(int columns) {
      letters = new char[columns];
      styles = new String[columns];
      Arrays.fill(letters, ' ');
      Arrays.fill(styles, "");
    }

    void put(int column, char letter, String style) {
      letters[column] = letter;
      styles[column] = style;
    }
  }

  private void line(String name, Line line, String value) {
    TextWidth.pad(out, name, gutter - 1, !ofPlan);
    out.append(" │");
    for (int from = 0; from < line.letters.length; ) {
      int to = from;
      while (to < line.letters.length && line.styles[to].equals(line.styles[from])) {
        to++;
      }
      String part = new String(line.letters, from, to - from);
      if (line.styles[from].isEmpty()) {
        out.append(part);
      } else {
        ink.paint(out, line.styles[from], part);
      }
      from = to;
    }
    out.append('│').append(value).append('\n');
  }

  private Line ops(Shown run, Lane.Compute lane, boolean computing, boolean exchanging) {
    Line line = new Line(scale.columns(run));
    List<Slice> slices = lane.slices();
    for (int first = 0; first < slices.size(); ) {
      int end = Lanes.end(slices, first);
      boolean shown = slices.get(first).kind().exchanges() ? exchanging : computing;
      int before = 0; // columns of those that run together
      for (int i = first; shown && i < end; i++) {
        String text = word(run, slices.get(i));
        if (scale.unit() > 0) {
          number(line, slices.get(i), text, before);
        } else {
          letter(line, slices.get(i), text, i > first, end - first == 1, run);
        }
        before += text.length() + 1;
      }
      first = end;
    }
    return line;
  }

  private void number(Line line, Slice slice, String text, int before) {
    int cell = scale.word() + scale.gap();
    int from = (int) Math.round(slice.start() / scale.unit()) * cell + before;
    int to = (int) Math.round(slice.end() / scale.unit()) * cell - scale.gap();
    if (before > 0 && from <= to) {
      line.letters[from - 1] = '+';
    }
    for (int at = from; at < to; at++) {
      line.put(at, at - from < text.length() ? text.charAt(at - from) : '━', style(slice));
    }
  }

  /**
   * The op's word where it has room; else its letter, which takes turns with those it runs with.
   */
  private void letter(
      Line line, Slice slice, String text, boolean joins, boolean alone, Shown run) {
    double perColumn = scale.seconds();
    boolean stages = run.numbering().ofStages();
    int from = (int) Math.ceil(slice.start() / perColumn - 0.5 - TextScale.CLOSE);
    int to = (int) Math.ceil(slice.end() / perColumn - 0.5 - TextScale.CLOSE);
    boolean whole = (scale.numbered() || stages) && alone && to - from >= text.length();
    char letter = text.charAt(ink.colours() && text.length() == 2 && stages ? 1 : 0);
    for (int at = Math.max(0, from); at < Math.min(line.letters.length, to); at++) {
      if (whole) {
        line.put(at, at - from < text.length() ? text.charAt(at - from) : '━', style(slice));
      } else if (!joins || (at - from) % 2 == 1) {
        line.put(at, letter, style(slice));
      }
    }
  }

  private static String word(Shown run, Slice slice) {
    Look look = Look.of(slice.kind());
    SliceNumbers numbering = run.numbering();
    String letter = String.valueOf(look.letter);
    if (slice.microBatch() < 0 || (numbering.ofStages() && look.exchanges())) {
      return letter;
    }
    boolean small = !numbering.ofStages() && numbering.shade(slice) % 2 == 1;
    return (small ? letter.toLowerCase(Locale.ROOT) : letter) + numbering.number(slice);
  }

  private static String style(Slice slice) {
    return Look.of(slice.kind()).ansi;
  }

  private Line shares(Shown run, Lane.Compute lane) {
    Line line = new Line(scale.columns(run));
    int cells = line.letters.length;
    Look[] looks = Look.values();
    double[][] shares = Lanes.shares(lane, run.makespan(), cells);
    for (int cell = 0; cell < cells; cell++) {
      double idle = 1;
      double backward = 0;
      int most = 0;
      for (int kind = 0; kind < shares.length; kind++) {
        idle -= shares[kind][cell];
        backward += looks[kind].backward() ? shares[kind][cell] : 0;
        most = shares[kind][cell] > shares[most][cell] ? kind : most;
      }
      boolean mixed = Math.min(shares[Look.FORWARD.number][cell], backward) >= 0.25;
      int eighths = (int) Math.round(8 * (1 - idle));
      if (eighths >= 8 || (mixed && eighths >= 4)) {
        both |= mixed;
        line.put(cell, mixed ? BOTH : looks[most].shade, looks[most].ansi);
      } else if (eighths > 0) {
        partly = true;
        line.put(cell, EIGHTHS.charAt(eighths - 1), looks[most].ansi);
      }
    }
    return line;
  }

  /** The most that a rank holds in each column, as bars on the scale of the fullest rank. */
  private Line held(Shown run, Memory memory) {
    Line line = new Line(scale.columns(run));
    double full = runs.peak();
    double perColumn = run.makespan() / line.letters.length;
    double[] seconds = memory.seconds();
    double now = 0;
    int next = 0;
    for (int column = 0; column < line.letters.length; column++) {
      for (;
          next < seconds.length && seconds[next] <= column * perColumn * (1 + TextScale.CLOSE);
          next++) {
        now = memory.bytes()[next];
      }
      double most = now;
      for (;
          next < seconds.length && seconds[next] < (column + 1) * perColumn * (1 - TextScale.CLOSE);
          next++) {
        now = memory.bytes()[next];
        most = Math.max(most, now);
      }
      double share = full > 0 ? most / full : 0;
      line.put(
          column, BARS.charAt((int) Math.ceil(share * 8 - TextScale.CLOSE)), most > 0 ? "34" : "");
    }
    return line;
  }

  private void axis(Shown run) {
    int cells = scale.columns(run);
    Ticks ticks = Ticks.of(run.makespan(), Math.max(3, cells / 10));
    char[] marks = new char[cells + 1];
    Arrays.fill(marks, '─');
    StringBuilder labels = new StringBuilder();
    for (int tick = 0; tick < ticks.count(); tick++) {
      int cell = (int) Math.round(ticks.at(tick) / run.makespan() * cells);
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

  /** Says what letters and bars mean. */
  private void legend() {
    List<String> entries = new ArrayList<>();
    for (Look look : runs.timed()) {
      if (!look.transfers()) {
        entries.add((scale.shaded() ? look.shade : look.letter) + " " + look.word);
      }
    }
    if (both) {
      entries.add(BOTH + " forward and backward");
    }
    if (partly) {
      entries.add("▏–▉ partly idle");
    }
    entries.add("blank: idle");
    if (!scale.shaded()) {
      numbers(entries);
    }
    for (Shown run : runs.all()) {
      String ranks = run.numbering().ranksOfStages();
      if (!ranks.isEmpty()) {
        entries.add((runs.areSeveral() ? run.name() + ": " : "") + ranks);
      }
    }
    if (folded) {
      entries.add("a line for equal stages shows the first");
    }
    if (!ofPlan && runs.all().stream().anyMatch(run -> run.ranks().size() <= MOST_STRIPS)) {
      entries.add("bars: activations held, █ the most of any rank");
    }
    int width = columns + gutter + 2 + (ofPlan ? IDLE_COLUMN : 0);
    LegendLine.append(out, entries, ofPlan ? gutter : gutter + 1, width);
  }

  private void numbers(List<String> entries) {
    boolean small =
        runs.all().stream()
            .map(Shown::numbering)
            .anyMatch(each -> each.mostShade() > 0 && !each.ofStages());
    if (small) {
      boolean ends =
          runs.all().stream()
              .map(Shown::numbering)
              .allMatch(each -> each.bothWays() || each.mostShade() == 0);
      entries.add(
          "small letters: " + (ends ? "from the other end" : "every second stage of a rank"));
    }
    if (runs.numberStages()) {
      boolean batches = runs.numberMicroBatches();
      entries.add(
          (batches ? "number: stage where a rank runs all" : "number: stage")
              + (batches && scale.numbered() ? ", else micro-batch" : ""));
    } else if (scale.numbered()) {
      entries.add("number: micro-batch");
    }
  }
}

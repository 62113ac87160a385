package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Schedules as lines of text, time to the right, all on one scale:
 *
 * <pre>
 * 0 │F0 F1 F2    B0━━━ F3 B1━━━│
 * 1 │   F0 F1 B0━━━ F2 B1━━━   │
 * </pre>
 *
 * Where the lines hold it, each op shows its letter and micro-batch in as many columns as it takes
 * units of time; otherwise each column shows what runs at its middle, by its letter alone where
 * there is no room. Every second stage of a rank has small letters; where a rank runs all stages,
 * as in data parallelism, the numbers are stages. Exchanges have a line below their rank's. Then
 * come the activations that each rank holds, as bars.
 */
final class ScheduleGrid {
  private static final int FINEST = 12; // cells of the shortest op
  private static final double CLOSE = 1e-6;
  private static final int MOST_RANKS = 64;
  private static final int MOST_STRIPS = 16;
  private static final String BARS = " ▁▂▃▄▅▆▇█";

  private final List<ScheduleRun> runs;
  private final Ink ink;
  private final StringBuilder out;
  private final int gutter;
  private final int columns;
  private final int word; // letters of the longest op
  private final int gap; // between ops
  private final double unit; // a time that all ops begin and end at multiples of; 0 for none
  private final double makespan;
  private final boolean numbered; // most ops, where there is no unit

  ScheduleGrid(List<ScheduleRun> runs, int width, Ink ink, StringBuilder out) {
    this.runs = runs;
    this.ink = ink;
    this.out = out;
    this.gutter = Integer.toString(mostRanks() - 1).length() + 1;
    this.columns = Math.max(10, width - gutter - 2);
    this.makespan = runs.stream().mapToDouble(ScheduleRun::makespan).max().orElse(0);
    this.word = Integer.toString(highestNumber()).length() + 1;
    double spacious = unit(columns / (word + 1));
    this.unit = spacious > 0 ? spacious : unit(columns / word);
    this.gap = spacious > 0 ? 1 : 0;
    this.numbered = unit > 0 || shortest() * columns >= (word - 0.25) * makespan;
  }

  private int mostRanks() {
    return runs.stream().mapToInt(ScheduleRun::ranks).max().orElse(1);
  }

  private int highestNumber() {
    int highest = 0;
    for (ScheduleRun run : runs) {
      for (int rank = 0; rank < run.ranks(); rank++) {
        for (long op : run.program(rank)) {
          if (!Schedule.pass(op).exchanges() || !run.numbersStages()) { // those have no number
            highest = Math.max(highest, run.number(op));
          }
        }
      }
    }
    return highest;
  }

  /** How long the shortest op takes, not counting those that take no time. */
  private double shortest() {
    double shortest = Double.POSITIVE_INFINITY;
    for (ScheduleRun run : runs) {
      for (int rank = 0; rank < run.ranks(); rank++) {
        for (int i = 0; i < run.program(rank).length; i++) {
          double seconds = run.end(rank, i) - run.start(rank, i);
          shortest = seconds > 0 ? Math.min(shortest, seconds) : shortest;
        }
      }
    }
    return shortest;
  }

  private double unit(int most) {
    double shortest = shortest();
    for (int parts = 1; parts <= FINEST && makespan * parts / shortest <= most; parts++) {
      if (fits(shortest / parts)) {
        return shortest / parts;
      }
    }
    return 0;
  }

  private boolean fits(double part) {
    for (ScheduleRun run : runs) {
      for (int rank = 0; rank < run.ranks(); rank++) {
        for (int i = 0; i < run.program(rank).length; i++) {
          if (!isMultiple(run.start(rank, i) / part) || !isMultiple(run.end(rank, i) / part)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  private static boolean isMultiple(double value) {
    return Math.abs(value - Math.rint(value)) <= CLOSE;
  }

  /** Appends the lines of one of the schedules. */
  void append(ScheduleRun run) {
    int ranks = Math.min(MOST_RANKS, run.ranks());
    boolean exchanges = run.shownPasses().stream().anyMatch(Pass::exchanges);
    for (int rank = 0; rank < ranks; rank++) {
      line(Integer.toString(rank), ops(run, rank, false));
      if (exchanges) {
        line("", ops(run, rank, true));
      }
    }
    if (ranks < run.ranks()) {
      out.append("and ").append(Words.count(run.ranks() - ranks, "rank")).append(" more\n");
    }
    out.append('\n');
    if (run.ranks() <= MOST_STRIPS) {
      for (int rank = 0; rank < ranks; rank++) {
        line(Integer.toString(rank), held(run, rank));
      }
    }
  }

  /** What a line shows, with the terminal's colour of each column; 0 for none. */
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

  /** Columns of a schedule's lines. */
  private int columns(ScheduleRun run) {
    return unit > 0
        ? (int) Math.round(run.makespan() / unit) * (word + gap)
        : (int) Math.round(run.makespan() / makespan * columns);
  }

  private void line(String name, Line line) {
    TextWidth.pad(out, name, gutter - 1, true);
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
    out.append("│\n");
  }

  private Line ops(ScheduleRun run, int rank, boolean exchanges) {
    Line line = new Line(columns(run));
    int[] shades = run.shades();
    long[] program = run.program(rank);
    for (int i = 0; i < program.length; i++) {
      if (Schedule.pass(program[i]).exchanges() == exchanges) {
        if (unit > 0) {
          number(line, run, rank, i, shades);
        } else {
          letter(line, run, rank, i, shades);
        }
      }
    }
    return line;
  }

  private void number(Line line, ScheduleRun run, int rank, int position, int[] shades) {
    long op = run.program(rank)[position];
    int cell = word + gap;
    int from = (int) Math.round(run.start(rank, position) / unit) * cell;
    int to = (int) Math.round(run.end(rank, position) / unit) * cell - gap;
    String text = word(run, op, shades);
    for (int i = position; run.joinsPrevious(rank, i); i--) {
      from += word(run, run.program(rank)[i - 1], shades).length() + 1;
    }
    if (run.joinsPrevious(rank, position) && from <= to) {
      line.letters[from - 1] = '+';
    }
    for (int at = from; at < to; at++) {
      char letter = at - from < text.length() ? text.charAt(at - from) : '━';
      line.put(at, letter, style(op));
    }
  }

  /** The op's word where it has room; else its letter, which takes turns with those beside it. */
  private void letter(Line line, ScheduleRun run, int rank, int position, int[] shades) {
    long op = run.program(rank)[position];
    double perColumn = makespan / columns;
    int from = (int) Math.ceil(run.start(rank, position) / perColumn - 0.5 - CLOSE);
    int to = (int) Math.ceil(run.end(rank, position) / perColumn - 0.5 - CLOSE);
    String text = word(run, op, shades);
    boolean alone =
        (numbered || run.numbersStages())
            && !run.joinsPrevious(rank, position)
            && !run.joinsNext(rank, position);
    for (int at = Math.max(0, from); at < Math.min(line.letters.length, to); at++) {
      if (alone && to - from >= text.length()) {
        line.put(at, at - from < text.length() ? text.charAt(at - from) : '━', style(op));
      } else if (!run.joinsPrevious(rank, position) || (at - from) % 2 == 1) {
        line.put(
            at,
            ink.colours() && text.length() == 2 && run.numbersStages()
                ? text.charAt(1)
                : text.charAt(0),
            style(op));
      }
    }
  }

  private static String word(ScheduleRun run, long op, int[] shades) {
    char letter = Schedule.pass(op).letter().charAt(0);
    if (run.numbersStages()) {
      return Schedule.pass(op).exchanges() ? String.valueOf(letter) : letter + "" + run.number(op);
    }
    boolean small = shades[Schedule.stage(op)] % 2 == 1 && !Schedule.pass(op).exchanges();
    return (small ? Character.toLowerCase(letter) : letter) + Integer.toString(run.number(op));
  }

  private static String style(long op) {
    return ScheduleLook.of(Schedule.pass(op)).ansi;
  }

  /** The most that a rank holds in each column, as bars on the scale of the fullest rank. */
  private Line held(ScheduleRun run, int rank) {
    Line line = new Line(columns(run));
    double full = runs.stream().mapToDouble(ScheduleRun::peak).max().orElse(1);
    double perColumn = run.makespan() / line.letters.length;
    ScheduleHeld held = ScheduleHeld.of(run, rank);
    int now = 0;
    int next = 0;
    for (int column = 0; column < line.letters.length; column++) {
      next = advance(held, next, column * perColumn * (1 + 1e-9));
      now = next == 0 ? 0 : held.counts()[next - 1];
      int most = now;
      while (next < held.seconds().length
          && held.seconds()[next] < (column + 1) * perColumn * (1 - 1e-9)) {
        most = Math.max(most, held.counts()[next++]);
      }
      double share = full > 0 ? (double) most / run.chunks() / full : 0;
      line.put(column, BARS.charAt((int) Math.ceil(share * 8 - 1e-9)), most > 0 ? "34" : "");
    }
    return line;
  }

  /** The first change after {@code now}. */
  private static int advance(ScheduleHeld held, int from, double now) {
    int next = from;
    while (next < held.seconds().length && held.seconds()[next] <= now) {
      next++;
    }
    return next;
  }

  /** Says what letters and bars mean. */
  void legend() {
    List<String> entries = new ArrayList<>();
    Set<Pass> passes = EnumSet.noneOf(Pass.class);
    boolean small = false;
    boolean strips = false;
    for (ScheduleRun run : runs) {
      passes.addAll(run.shownPasses());
      small |= run.hasShades() && !run.numbersStages();
      strips |= run.ranks() <= MOST_STRIPS;
    }
    for (Pass pass : passes) {
      entries.add(pass.letter() + " " + ScheduleLook.of(pass).words);
    }
    entries.add("blank: idle");
    if (small) {
      boolean both = runs.stream().allMatch(run -> run.runsBothWays() || !run.hasShades());
      entries.add(
          "small letters: " + (both ? "from the other end" : "every second stage of a rank"));
    }
    boolean batches = runs.stream().anyMatch(run -> !run.numbersStages());
    boolean stages = runs.stream().anyMatch(ScheduleRun::numbersStages);
    if (stages) {
      entries.add(
          (batches ? "number: stage where a rank runs all" : "number: stage")
              + (batches && numbered ? ", else micro-batch" : ""));
    } else if (numbered) {
      entries.add("number: micro-batch");
    }
    for (ScheduleRun run : runs) {
      String ranks = run.ranksOfStages();
      if (!ranks.isEmpty()) {
        entries.add((runs.size() > 1 ? run.name() + ": " : "") + ranks);
      }
    }
    if (strips) {
      entries.add("bars: activations held, █ the most of any rank");
    }
    LegendLine.append(out, entries, gutter + 1, columns + gutter + 2);
  }
}

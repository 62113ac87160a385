package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Units;
import java.util.Arrays;

/**
 * A schedule as text: its figures, and a line for each rank with time to the right:
 *
 * <pre>
 * 0 │F0 F1 F2    B0━━━ F3 B1━━━│
 * 1 │   F0 F1 B0━━━ F2 B1━━━   │
 * </pre>
 *
 * Where the lines hold it, each op shows its letter and micro-batch; otherwise each column shows
 * the letter of what runs at its middle. Every second stage of a rank has small letters.
 */
public final class ScheduleText {
  private static final int FINEST = 12; // cells of the shortest op
  private static final double CLOSE = 1e-6;
  private static final int MOST_RANKS = 64;

  private final ScheduleRun run;
  private final Ink ink;
  private final int[] chunkOf;
  private final int gutter;
  private final int columns;
  private final StringBuilder out = new StringBuilder();

  private ScheduleText(ScheduleRun run, int width, boolean colours) {
    this.run = run;
    this.ink = new Ink(colours);
    this.chunkOf = run.chunkOf();
    this.gutter = Integer.toString(run.schedule().ranks() - 1).length() + 1;
    this.columns = Math.max(10, width - gutter - 2);
  }

  /**
   * The figures and the grid, each line ended by a newline.
   *
   * @param width columns of a line
   * @param colours whether to use the escape sequences of terminals
   */
  public static String of(ScheduleRun run, int width, boolean colours) {
    ScheduleText text = new ScheduleText(run, width, colours);
    text.figures(width);
    text.out.append('\n');
    text.grid();
    return text.out.toString();
  }

  private void figures(int width) {
    ink.paint(out, Ink.BOLD, run.title());
    out.append('\n');
    out.append("op times: ").append(run.times()).append('\n');
    out.append("makespan ").append(number(run.makespan()));
    out.append("; idle ").append(Units.percent(run.idleShare())).append(" of it, ");
    out.append(Units.percent(run.spanIdleShare())).append(" of the longest rank's span\n");
    StringBuilder peaks = new StringBuilder("peak activations of a stage by rank:");
    for (int peak : run.peaks()) {
      peaks.append(' ').append(number((double) peak / run.chunks()));
    }
    if (run.memoryCap() < Double.POSITIVE_INFINITY) {
      peaks.append(" (cap ").append(number(run.memoryCap())).append(')');
    }
    TextWidth.wrap(out, peaks.toString(), width, 0);
  }

  /** Whole numbers as they are, others with up to six digits behind the point. */
  public static String number(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      return Long.toString((long) value);
    }
    String text = Math.abs(value) < 1e-3 ? Double.toString(value) : Units.fixed(value, 6);
    return text.contains("E") ? text : text.replaceAll("0+$", "");
  }

  private void grid() {
    int word = Integer.toString(run.schedule().microBatches() - 1).length() + 1;
    double spacious = unit(columns / (word + 1));
    double unit = spacious > 0 ? spacious : unit(columns / word);
    int gap = spacious > 0 ? 1 : 0; // between ops
    int ranks = Math.min(MOST_RANKS, run.schedule().ranks());
    for (int rank = 0; rank < ranks; rank++) {
      TextWidth.pad(out, Integer.toString(rank), gutter - 1, true);
      out.append(" │");
      if (unit > 0) {
        numbered(rank, unit, word + gap, gap);
      } else {
        letters(rank);
      }
      out.append("│\n");
    }
    if (ranks < run.schedule().ranks()) {
      out.append("and ").append(run.schedule().ranks() - ranks).append(" ranks more\n");
    }
    legend(unit > 0);
  }

  /** A time that all ops begin and end at multiples of; 0 where the grid has too many of them. */
  private double unit(int most) {
    double shortest = Double.POSITIVE_INFINITY;
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      for (int i = 0; i < run.starts()[rank].length; i++) {
        double seconds = run.ends()[rank][i] - run.starts()[rank][i];
        shortest = seconds > 0 ? Math.min(shortest, seconds) : shortest;
      }
    }
    for (int parts = 1; parts <= FINEST && run.makespan() * parts / shortest <= most; parts++) {
      if (fits(shortest / parts)) {
        return shortest / parts;
      }
    }
    return 0;
  }

  private boolean fits(double unit) {
    for (double[] ends : run.ends()) {
      for (double end : ends) {
        if (Math.abs(end / unit - Math.rint(end / unit)) > CLOSE) {
          return false;
        }
      }
    }
    for (double[] starts : run.starts()) {
      for (double start : starts) {
        if (Math.abs(start / unit - Math.rint(start / unit)) > CLOSE) {
          return false;
        }
      }
    }
    return true;
  }

  /** What a line shows, with the terminal's colour of each column; 0 for none. */
  private static final class Line {
    final char[] letters;
    final int[] styles;

    Line(int columns) {
      letters = new char[columns];
      styles = new int[columns];
      Arrays.fill(letters, ' ');
    }
  }

  private void numbered(int rank, double unit, int cell, int gap) {
    Line line = new Line((int) Math.round(run.makespan() / unit) * cell);
    long[] program = run.schedule().packed(rank);
    for (int i = 0; i < program.length; i++) {
      int from = (int) Math.round(run.starts()[rank][i] / unit) * cell;
      int to = (int) Math.round(run.ends()[rank][i] / unit) * cell - gap;
      String word = word(program[i]);
      if (run.joinsPrevious(rank, i)) {
        from += word(program[i - 1]).length() + 1;
        if (from > 0 && from <= to) {
          line.letters[from - 1] = '+';
        }
      }
      for (int at = from; at < to; at++) {
        int letter = at - from;
        line.letters[at] = letter < word.length() ? word.charAt(letter) : '━';
        line.styles[at] = style(program[i]);
      }
    }
    paint(line);
  }

  private void letters(int rank) {
    Line line = new Line(columns);
    double perColumn = run.makespan() / columns;
    long[] program = run.schedule().packed(rank);
    for (int i = 0; i < program.length; i++) {
      int from = (int) Math.ceil(run.starts()[rank][i] / perColumn - 0.5 - CLOSE);
      int to = (int) Math.ceil(run.ends()[rank][i] / perColumn - 0.5 - CLOSE);
      for (int at = Math.max(0, from); at < Math.min(columns, to); at++) {
        if (!run.joinsPrevious(rank, i) || at % 2 == 1) {
          line.letters[at] = word(program[i]).charAt(0);
          line.styles[at] = style(program[i]);
        }
      }
    }
    paint(line);
  }

  private String word(long op) {
    String letter = Schedule.pass(op).letter();
    boolean small = chunkOf[Schedule.stage(op)] % 2 == 1;
    return (small ? (char) (letter.charAt(0) + 32) : letter.charAt(0))
        + Integer.toString(Schedule.microBatch(op));
  }

  private static int style(long op) {
    return switch (Schedule.pass(op)) {
      case FORWARD -> 34;
      case BACKWARD -> 33;
      case BACKWARD_INPUT -> 31;
      case BACKWARD_WEIGHT -> 32;
      case RECOMPUTE -> 35;
      case UPDATE, REDUCE, GATHER, HAND_ON -> 37;
    };
  }

  private void paint(Line line) {
    for (int from = 0; from < line.letters.length; ) {
      int to = from;
      while (to < line.letters.length && line.styles[to] == line.styles[from]) {
        to++;
      }
      String part = new String(line.letters, from, to - from);
      if (line.styles[from] == 0) {
        out.append(part);
      } else {
        ink.paint(out, Integer.toString(line.styles[from]), part);
      }
      from = to;
    }
  }

  private void legend(boolean numbered) {
    StringBuilder words = new StringBuilder();
    for (Pass pass : run.passes()) {
      words.append(pass.letter()).append(' ').append(words(pass)).append("  ");
    }
    boolean small = Arrays.stream(chunkOf).anyMatch(chunk -> chunk % 2 == 1);
    words.append("blank: idle");
    words.append(small ? "  small letters: every second stage of a rank" : "");
    words.append(numbered ? "  number: micro-batch" : "");
    TextWidth.repeat(out, ' ', gutter + 1);
    TextWidth.wrap(out, words.toString(), columns + gutter + 2, gutter + 1);
  }

  static String words(Pass pass) {
    return switch (pass) {
      case FORWARD -> "forward";
      case BACKWARD -> "backward";
      case BACKWARD_INPUT -> "gradient of the input";
      case BACKWARD_WEIGHT -> "gradient of the weights";
      case RECOMPUTE -> "forward again";
      case UPDATE -> "update";
      case REDUCE -> "gradients added up";
      case GATHER -> "parameters gathered";
      case HAND_ON -> "taken over";
    };
  }
}

package dev.pipewright.formats.schedule;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The figures that a schedule's file states in addition to its ops, and whether these give them
 * too.
 */
final class StatedFigures {
  private static final double ROUNDING = 1e-9;

  private record Figure(double[] values, int line, int column) {}

  private final Path file;
  private final Map<String, Figure> figures = new HashMap<>();
  private final List<FileProblem> problems = new ArrayList<>();

  StatedFigures(Path file) {
    this.file = file;
  }

  /** One number, or one for each rank. */
  void add(String key, int line, int column, double... values) {
    figures.put(key, new Figure(values, line, column));
  }

  /** Compares a count with that of the ops. */
  void count(String key, long counted) {
    number(key, (double) counted, 0);
  }

  /** Compares what follows from the times of the ops; an idle share contains stretched work. */
  void compare(ScheduleFigures ops) {
    Figure stretched = figures.get("stretched_share");
    number("makespan", ops.makespan(), ROUNDING * ops.makespan());
    number(
        "idle_share", ops.idleShare() + (stretched == null ? 0 : stretched.values()[0]), ROUNDING);
    if (stretched == null) { // else the busiest rank's own share would be needed
      number("stage_span_idle_share", ops.spanIdleShare(), ROUNDING);
    }
    ranks("peak_activations", ops.peaks());
  }

  private void number(String key, double counted, double tolerance) {
    Figure figure = figures.get(key);
    if (figure != null && !(Math.abs(figure.values()[0] - counted) <= tolerance)) {
      contradicts(key, -1, figure, figure.values()[0], counted);
    }
  }

  private void ranks(String key, double[] counted) {
    Figure figure = figures.get(key);
    if (figure == null) {
      return;
    }
    if (figure.values().length != counted.length) {
      contradicts("the length of " + key, -1, figure, figure.values().length, counted.length);
      return;
    }
    for (int rank = 0; rank < counted.length; rank++) {
      double stated = figure.values()[rank];
      if (!(Math.abs(stated - counted[rank]) <= ROUNDING * counted[rank])) {
        contradicts("%s[%d]".formatted(key, rank), rank, figure, stated, counted[rank]);
      }
    }
  }

  private void contradicts(String what, int rank, Figure at, double stated, double counted) {
    String words = "%s is %s, but the ops give %s".formatted(what, plain(stated), plain(counted));
    problems.add(
        new FileProblem(file, at.line(), at.column(), "figure", rank, -1, -1, words, List.of()));
  }

  private static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? Long.toString((long) number)
        : Double.toString(number);
  }

  /** The figures that differ from the ops, as far as they were compared. */
  List<FileProblem> problems() {
    return problems;
  }
}

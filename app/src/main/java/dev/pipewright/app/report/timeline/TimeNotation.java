package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Ticks;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.units.Units;

/** In which words a timeline's times are. */
public enum TimeNotation {
  /** Of plans and measured runs. */
  SECONDS,
  /** Of schedules: multiples of an op's time. */
  UNITS;

  /** {@code 968 ms}, or {@code 33}. */
  String duration(double time) {
    return this == SECONDS ? Units.seconds(time) : Numbers.plain(time);
  }

  /** {@code 12.300 to 24.600 ms}, or {@code 21 to 22}: a part of a run that takes {@code whole}. */
  String span(double start, double end, double whole) {
    if (this == UNITS) {
      return Numbers.plain(start) + " to " + Numbers.plain(end);
    }
    String unit = Ticks.unit(whole);
    StringBuilder words = new StringBuilder();
    Units.appendFixed(words, start * Ticks.scale(unit), 3);
    Units.appendFixed(words.append(" to "), end * Ticks.scale(unit), 3);
    return words.append(' ').append(unit).toString();
  }

  /** The words at a mark of an axis. */
  String label(Ticks ticks, int mark) {
    return this == SECONDS ? ticks.label(mark) + " " + ticks.unit() : Numbers.plain(ticks.at(mark));
  }
}

package dev.pipewright.app.report.timeline;

import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;

/** How the time of runs becomes columns of text. */
final class TextScale {
  private static final int FINEST = 12; // cells of the shortest op

  /** Columns that differ by less are the same. */
  static final double CLOSE = 1e-6;

  private final Runs runs;
  private final int columns;
  private final int word;
  private final int gap;
  private final double unit;
  private final double makespan;
  private final double shortest;

  /**
   * A scale.
   *
   * @param columns for the longest run
   */
  TextScale(Runs runs, int columns) {
    this.runs = runs;
    this.columns = columns;
    this.makespan = runs.makespan();
    this.shortest = shortest();
    this.word = Integer.toString(highestNumber()).length() + 1;
    double spacious = unit(columns / (word + 1));
    this.unit = spacious > 0 ? spacious : unit(columns / word);
    this.gap = spacious > 0 ? 1 : 0;
  }

  /** A time that all ops begin and end at multiples of; 0 for none. */
  double unit() {
    return unit;
  }

  /** Letters of the longest op. */
  int word() {
    return word;
  }

  /** Columns between ops. */
  int gap() {
    return gap;
  }

  /** Of a column. */
  double seconds() {
    return makespan / columns;
  }

  /** Whether ops are shorter than a column. */
  boolean shaded() {
    return unit == 0 && shortest * columns < makespan * (1 - CLOSE);
  }

  /** Whether most ops have room for their number. */
  boolean numbered() {
    return unit > 0 || shortest * columns >= (word - 0.25) * makespan;
  }

  /** Columns of a run's lines. */
  int columns(Shown run) {
    return unit > 0
        ? (int) Math.round(run.makespan() / unit) * (word + gap)
        : (int) Math.round(run.makespan() / makespan * columns);
  }

  private int highestNumber() {
    int highest = 0;
    for (Shown run : runs.all()) {
      for (Lane.Compute lane : run.ranks()) {
        for (Slice slice : lane.slices()) {
          if (!slice.kind().exchanges() || !run.numbering().ofStages()) { // those have no number
            highest = Math.max(highest, run.numbering().number(slice));
          }
        }
      }
    }
    return highest;
  }

  /** How long the shortest op takes, not counting those that take no time or end the step. */
  private double shortest() {
    double shortest = shortest(true);
    return Double.isInfinite(shortest) ? shortest(false) : shortest;
  }

  private double shortest(boolean ofMicroBatches) {
    double shortest = Double.POSITIVE_INFINITY;
    for (Shown run : runs.all()) {
      for (Lane.Compute lane : run.ranks()) {
        for (Slice slice : lane.slices()) {
          boolean counts = (slice.microBatch() >= 0 || !ofMicroBatches) && slice.seconds() > 0;
          shortest = counts ? Math.min(shortest, slice.seconds()) : shortest;
        }
      }
    }
    return shortest;
  }

  private double unit(int most) {
    for (int parts = 1; parts <= FINEST && makespan * parts / shortest <= most; parts++) {
      if (fits(shortest / parts)) {
        return shortest / parts;
      }
    }
    return 0;
  }

  private boolean fits(double part) {
    for (Shown run : runs.all()) {
      for (Lane.Compute lane : run.ranks()) {
        for (Slice slice : lane.slices()) {
          if (!isMultiple(slice.start() / part) || !isMultiple(slice.end() / part)) {
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
}

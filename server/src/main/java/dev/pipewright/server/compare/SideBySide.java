package dev.pipewright.server.compare;

import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.timeline.RunTable;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.TimelineSvg;
import dev.pipewright.formats.file.BadInputException;

/**
 * Runs one above the other on one axis of time.
 *
 * @param differences what differs between them besides their times; without rows where nothing does
 */
public record SideBySide(Runs runs, Table differences) {
  /** How many are compared. */
  public static final int FEWEST = 2;

  public static final int MOST = 4;
  private static final int MOST_DRAWN = 60_000; // slices of a picture

  /** Throws {@link BadInputException} where there are too few or too many. */
  static void checkCount(int count, String what) {
    if (count < FEWEST || count > MOST) {
      throw new BadInputException(
          "%s: %d cannot be compared; choose %d to %d".formatted(what, count, FEWEST, MOST));
    }
  }

  /** Times, idle shares and memory of each, the others against the first. */
  public Table figures() {
    return RunTable.of(runs);
  }

  /** Throws {@link BadInputException} where there are too many passes to draw. */
  public void checkSize() {
    if (runs.slices() > MOST_DRAWN) {
      throw new BadInputException(
          "%,d passes are more than a picture can show; compare smaller ones"
              .formatted(runs.slices()));
    }
  }

  /** The picture; throws {@link BadInputException} where it has too many passes to show. */
  public String svg() {
    checkSize();
    return TimelineSvg.of("comparison", runs);
  }
}

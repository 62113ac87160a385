package dev.pipewright.app.report.timeline;

import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;

/**
 * Where things are in a picture of runs that are compared: one scale of time and one height of rows
 * for all of them; few ranks get tall rows, many get thin ones.
 *
 * @param left where time begins
 * @param plot pixels of the longest run
 * @param makespan of the longest run
 * @param row a rank's height, without what overlaps it
 * @param foot below its row, what exchanges that overlap computation take
 * @param link a link's height
 * @param strip a rank's height in the picture of memory
 * @param most what a strip holds
 */
record SvgScale(
    double left,
    double plot,
    double makespan,
    double row,
    double foot,
    double link,
    double strip,
    double most) {
  /** Where names begin, and the space around a picture. */
  static final double EDGE = 12;

  /** Between the time axis and the edge: idle shares and peaks. */
  static final double RIGHT = 68;

  private static final double DIGIT = 6.4;
  private static final double NARROWEST = 420;
  private static final double USUAL = 1040;
  private static final double PAGE = 1200; // the width of a picture that is not to be wider
  private static final double WIDEST = 12_000;
  private static final double ROOMY = 44; // of a usual op, beyond which there is no use
  private static final double EXCHANGES = 8;

  static SvgScale of(Runs runs) {
    boolean links = runs.all().stream().anyMatch(SvgScale::hasLinks);
    boolean bytes = runs.first().inBytes();
    int ranks = runs.ranks();
    double left = EDGE + (runs.haveDevices() ? 146 : 44 + 8.0 * digits(ranks - 1));
    double row = ranks <= 8 ? 30 : ranks <= 16 ? 26 : 20;
    double link = !links ? 0 : ranks <= 8 ? 8 : ranks <= 24 ? 6 : 4;
    double strip = ranks <= 8 ? 24 : ranks <= 16 ? 18 : 12;
    return new SvgScale(
        left,
        plot(runs, left),
        runs.makespan(),
        row,
        runs.all().stream().anyMatch(Shown::overlaps) ? EXCHANGES : 0,
        link,
        bytes ? 2 * strip : strip,
        most(runs, bytes ? 0 : 1));
  }

  /** Wide enough for numbers in most ops; what is measured in seconds is as wide as a page. */
  private static double plot(Runs runs, double left) {
    double needed = 0;
    double roomy = NARROWEST;
    for (Shown run : runs.all()) {
      double perUsualOp = runs.makespan() / run.usual();
      needed = Math.max(needed, perUsualOp * (digits(highest(run)) * DIGIT + 3));
      roomy = Math.max(roomy, perUsualOp * ROOMY);
    }
    double page = PAGE - left - RIGHT;
    if (runs.clock() == TimeNotation.SECONDS) {
      return page;
    }
    return Math.min(WIDEST, Math.max(needed, Math.min(USUAL, roomy)));
  }

  private static int highest(Shown run) {
    int highest = 0;
    for (Lane.Compute lane : run.ranks()) {
      for (var slice : lane.slices()) {
        highest = Math.max(highest, slice.microBatch());
      }
    }
    return highest;
  }

  private static int digits(int number) {
    return Integer.toString(number).length();
  }

  private static boolean hasLinks(Shown run) {
    return run.timeline().lanes().size() > run.ranks().size();
  }

  /** What is held, and the highest of the caps that leave it to be seen. */
  private static double most(Runs runs, double least) {
    double held = runs.peak();
    double most = Math.max(least, held);
    for (Shown run : runs.all()) {
      for (Memory memory : run.timeline().memory()) {
        if (memory.capacity() <= 4 * held) {
          most = Math.max(most, memory.capacity());
        }
      }
    }
    return most;
  }

  double x(double seconds) {
    return left + (makespan > 0 ? seconds / makespan : 0) * plot;
  }

  double right() {
    return left + plot;
  }

  double width() {
    return left + plot + RIGHT;
  }

  /** Pixels of a length of time. */
  double pixels(double seconds) {
    return x(seconds) - left;
  }

  /** Whether a cap is in the strips. */
  boolean shows(double cap) {
    return cap <= most;
  }
}

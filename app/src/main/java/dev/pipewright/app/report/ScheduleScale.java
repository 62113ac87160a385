package dev.pipewright.app.report;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.List;

/**
 * Where things are in pictures of schedules that are compared: one scale of time and one height of
 * rows for all of them.
 *
 * @param edge where names begin
 * @param left where time begins
 * @param plot pixels of the longest schedule
 * @param makespan of the longest schedule
 * @param row a rank's height in the grid
 * @param lane of it, what exchanges take at its foot
 * @param strip a rank's height in the picture of memory
 * @param most activations, in those of a stage and micro-batch, that a strip holds
 */
record ScheduleScale(
    double edge,
    double left,
    double plot,
    double makespan,
    double row,
    double lane,
    double strip,
    double most) {
  /** Between the time axis and the edge: idle shares and peaks. */
  static final double RIGHT = 60;

  private static final double DIGIT = 6.4;
  private static final double NARROWEST = 420;
  private static final double USUAL = 1040;
  private static final double WIDEST = 12_000;
  private static final double ROOMY = 44; // of a usual op, beyond which there is no use
  private static final double EXCHANGES = 8;

  /** Pixels of the ranks' names and a gap. */
  static double names(List<ScheduleRun> runs) {
    int ranks = runs.stream().mapToInt(ScheduleRun::ranks).max().orElse(1);
    return 44 + 8.0 * Integer.toString(ranks - 1).length();
  }

  /** For a page that shows all of them without scrolling, where it is wide enough. */
  static ScheduleScale fitted(List<ScheduleRun> runs) {
    ScheduleScale scale = of(runs, 0, 2);
    return new ScheduleScale(
        scale.edge,
        scale.left,
        Math.min(scale.plot, USUAL),
        scale.makespan,
        scale.row,
        scale.lane,
        scale.strip,
        scale.most);
  }

  static ScheduleScale of(List<ScheduleRun> runs, double edge, double left) {
    double makespan = 0;
    double ranks = 0;
    double most = 0;
    double needed = 0;
    double roomy = NARROWEST;
    boolean exchanging = false;
    for (ScheduleRun run : runs) {
      makespan = Math.max(makespan, run.makespan());
      ranks = Math.max(ranks, run.ranks());
      most = Math.max(most, run.peak());
      exchanging |= run.schedule().exchanging();
    }
    for (ScheduleRun run : runs) {
      double perUsualOp = makespan / usual(run);
      int digits = Integer.toString(run.schedule().microBatches() - 1).length();
      needed = Math.max(needed, perUsualOp * (digits * DIGIT + 3));
      roomy = Math.max(roomy, perUsualOp * ROOMY);
    }
    double plot = Math.min(WIDEST, Math.max(needed, Math.min(USUAL, roomy)));
    double lane = exchanging ? EXCHANGES : 0;
    double row = ranks <= 8 ? 30 : ranks <= 16 ? 26 : 20;
    double strip = ranks <= 8 ? 24 : ranks <= 16 ? 18 : 12;
    double held = Math.max(most, highest(runs.get(0).memoryCap(), 4 * most));
    return new ScheduleScale(
        edge, left, plot, makespan, row + lane, lane, strip, Math.max(held, 1));
  }

  /** Of the ranks' caps, the highest that leaves what is held to be seen. */
  private static double highest(MemoryCap cap, double most) {
    return cap.values().stream()
        .mapToDouble(Double::doubleValue)
        .filter(each -> each <= most)
        .max()
        .orElse(0);
  }

  /** How long an op takes: the lower median, not counting those that take no time. */
  private static double usual(ScheduleRun run) {
    double[] seconds = new double[Math.toIntExact(run.schedule().size())];
    int size = 0;
    for (int rank = 0; rank < run.ranks(); rank++) {
      long[] program = run.program(rank);
      for (int i = 0; i < program.length; i++) {
        double taken = run.end(rank, i) - run.start(rank, i);
        if (taken > 0 && !Schedule.pass(program[i]).exchanges()) {
          seconds[size++] = taken;
        }
      }
    }
    Arrays.sort(seconds, 0, size);
    return size == 0 ? Double.POSITIVE_INFINITY : seconds[(size - 1) / 2];
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

  /** Whether cells are wide enough for a line around them. */
  boolean outlines(ScheduleRun run) {
    return x(usual(run)) - left >= 3;
  }

  /** Whether a rank's cap is in the strips. */
  boolean shows(double cap) {
    return cap <= most;
  }

  /** Whether any rank's is. */
  boolean shows(MemoryCap cap) {
    return shows(cap.least());
  }
}

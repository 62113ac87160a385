package dev.pipewright.planner.madpipe;

import java.util.Arrays;

/**
 * A pattern of one batch under construction, from the last stage on. Starts are batch 0's, in
 * seconds: its last backward pass starts at 0, what comes before it in the chain earlier. On its
 * rank an op recurs every period.
 */
final class Draft {
  private static final double TOLERANCE = 1e-11; // of the period

  private final Ops ops;
  private final double period;
  private final double[] starts; // by link; not a number where not placed yet

  Draft(Ops ops, double period) {
    this.ops = ops;
    this.period = period;
    starts = new double[ops.links()];
    Arrays.fill(starts, Double.NaN);
  }

  private Draft(Draft that) {
    ops = that.ops;
    period = that.period;
    starts = that.starts.clone();
  }

  /** The same with an op more. */
  Draft with(int link, double start) {
    Draft next = new Draft(this);
    next.starts[link] = start;
    return next;
  }

  double start(int link) {
    return starts[link];
  }

  double end(int link) {
    return starts[link] + ops.seconds(link);
  }

  double[] starts() {
    return starts;
  }

  /** How far it is from one time on to the next turn of another. */
  private double turned(double seconds) {
    double rest = seconds % period;
    return rest < 0 ? rest + period : rest;
  }

  private double tolerance() {
    return TOLERANCE * period;
  }

  /** Whether ops of a rank would overlap; one without duration only where it is inside another. */
  private boolean clashes(double start, double seconds, int other) {
    double theirs = ops.seconds(other);
    double after = turned(starts[other] - start);
    double before = turned(start - starts[other]);
    return (after < seconds - tolerance() && (theirs > 0 || after > tolerance()))
        || (before < theirs - tolerance() && (seconds > 0 || before > tolerance()));
  }

  private int clash(int link, double start) {
    for (int other : ops.besides(link)) {
      if (!Double.isNaN(starts[other]) && clashes(start, ops.seconds(link), other)) {
        return other;
      }
    }
    return -1;
  }

  /**
   * The earliest start from {@code ready} on while the rank is free; not a number if there is none.
   */
  double earliest(int link, double ready) {
    double start = ready;
    for (int moves = ops.besides(link).length; moves >= 0; moves--) {
      int other = clash(link, start);
      if (other < 0) {
        return start;
      }
      start += turned(end(other) - start);
    }
    return Double.NaN;
  }

  /** The latest start up to {@code ready} while the rank is free; not a number if there is none. */
  double latest(int link, double ready) {
    double start = ready;
    for (int moves = ops.besides(link).length; moves >= 0; moves--) {
      int other = clash(link, start);
      if (other < 0) {
        return start;
      }
      start -= turned(start + ops.seconds(link) - starts[other]);
    }
    return Double.NaN;
  }

  /**
   * Starts worth a try: the nearest to {@code ready}, and those next to ops of the same rank, so
   * that its free time stays in one piece.
   *
   * @param on whether starts lie from {@code ready} on, or up to it
   * @return ascending by distance
   */
  double[] candidates(int link, double ready, boolean on, int most) {
    double nearest = on ? earliest(link, ready) : latest(link, ready);
    if (Double.isNaN(nearest) || most == 1) {
      return new double[] {nearest};
    }
    int[] others = ops.besides(link);
    double[] away = new double[2 * others.length + 1];
    int count = 0;
    away[count++] = Math.abs(nearest - ready);
    for (int other : others) {
      if (!Double.isNaN(starts[other])) {
        double behind = end(other);
        double before = starts[other] - ops.seconds(link);
        count = next(link, behind, ready, on, away, count);
        count = next(link, before, ready, on, away, count);
      }
    }
    Arrays.sort(away, 0, count);
    double[] starts = new double[Math.min(most, count)];
    int size = 0;
    for (int i = 0; i < count && size < starts.length; i++) {
      if (i == 0 || away[i] - away[i - 1] > tolerance()) {
        starts[size++] = on ? ready + away[i] : ready - away[i];
      }
    }
    return Arrays.copyOf(starts, size);
  }

  private int next(int link, double start, double ready, boolean on, double[] away, int count) {
    double distance = turned(on ? start - ready : ready - start);
    if (clash(link, on ? ready + distance : ready - distance) < 0) {
      away[count] = distance;
      return count + 1;
    }
    return count;
  }

  /**
   * The pieces that the free time of an op's rank is in; the longest of them has to hold a rest.
   */
  int pieces(int link, double longestToCome) {
    double[][] busy = new double[ops.besides(link).length + 1][];
    int count = 0;
    busy[count++] = new double[] {turned(starts[link]), ops.seconds(link)};
    for (int other : ops.besides(link)) {
      if (!Double.isNaN(starts[other])) {
        busy[count++] = new double[] {turned(starts[other]), ops.seconds(other)};
      }
    }
    double[][] placed = Arrays.copyOf(busy, count);
    Arrays.sort(placed, (a, b) -> Double.compare(a[0], b[0]));
    int pieces = 0;
    double longest = 0;
    for (int i = 0; i < count; i++) {
      double until = i + 1 < count ? placed[i + 1][0] : placed[0][0] + period;
      double free = until - placed[i][0] - placed[i][1];
      pieces += free > tolerance() ? 1 : 0;
      longest = Math.max(longest, free);
    }
    return longest < longestToCome - tolerance() ? Integer.MAX_VALUE : pieces;
  }

  /** As many batches as a stage holds. */
  int held(int stage) {
    double span = end(ops.back(stage)) - starts[stage];
    return (int) Math.max(1, Math.ceil(span / period - 1e-9));
  }
}

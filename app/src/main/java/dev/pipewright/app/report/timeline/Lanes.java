package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.util.List;

/** What pictures ask of a timeline's lanes. */
final class Lanes {
  private static final int KINDS = Look.values().length;

  private Lanes() {}

  /** {@code rank 0}; {@code stage 0} of a plan whose ranks have one stage each. */
  static String name(Timeline timeline, Lane.Compute lane) {
    return word(timeline) + " " + lane.rank();
  }

  /** {@code rank}, or {@code stage}. */
  static String word(Timeline timeline) {
    List<Lane.Compute> ranks = timeline.compute();
    boolean devices = !ranks.isEmpty() && !ranks.get(0).devices().isEmpty();
    return devices && timeline.placement().straight() ? "stage" : "rank";
  }

  /** The first of the slices that run together with the one at a position. */
  static int first(List<Slice> slices, int position) {
    int first = position;
    while (first > 0 && together(slices.get(first - 1), slices.get(first))) {
      first--;
    }
    return first;
  }

  /** The position after the last of the slices that run together from {@code first} on. */
  static int end(List<Slice> slices, int first) {
    int end = first + 1;
    while (end < slices.size() && together(slices.get(end - 1), slices.get(end))) {
      end++;
    }
    return end;
  }

  /**
   * Whether the exchange at a position runs while its rank computes, or takes no time: pictures put
   * it below the rank's ops, and others in line with them.
   */
  static boolean overlaps(List<Slice> slices, int exchange) {
    Slice slice = slices.get(exchange);
    return slice.seconds() <= 0
        || computes(slices, exchange, -1, slice)
        || computes(slices, exchange, 1, slice);
  }

  /** Whether an op in a direction overlaps the exchange; ops that compute are in order of time. */
  private static boolean computes(List<Slice> slices, int from, int step, Slice exchange) {
    double dust = 1e-9 * exchange.seconds();
    for (int i = from + step; i >= 0 && i < slices.size(); i += step) {
      Slice other = slices.get(i);
      double after =
          other.start() - exchange.end(); // that the other starts, below 0 if it overlaps
      double before = exchange.start() - other.end();
      if (other.kind().exchanges() || other.seconds() <= 0) {
        continue;
      }
      if (Math.max(after, before) < -dust) {
        return true;
      }
      if ((step > 0 ? after : before) >= 0) {
        return false; // as are all further ones
      }
    }
    return false;
  }

  private static boolean together(Slice one, Slice next) {
    return !one.kind().exchanges() && !next.kind().exchanges() && one.runsWith(next);
  }

  /**
   * The share of each of {@code bins} equal parts of the step that each kind takes: [number][bin].
   */
  static double[][] shares(Lane lane, double stepSeconds, int bins) {
    double[][] shares = new double[KINDS][bins];
    double perBin = stepSeconds / bins;
    for (Slice slice : lane.slices()) {
      double from = slice.start() / perBin;
      double to = Math.min(bins, slice.end() / perBin);
      double[] share = shares[Look.of(slice.kind()).number];
      for (int bin = (int) from; bin < to; bin++) {
        share[bin] += Math.min(to, bin + 1) - Math.max(from, bin);
      }
    }
    return shares;
  }
}

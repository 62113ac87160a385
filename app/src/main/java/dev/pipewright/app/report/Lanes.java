package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A timeline's lanes in the order in which pictures show them. */
final class Lanes {
  private static final int KINDS = Look.values().length;

  private Lanes() {}

  /** Stage by stage; below each stage its links with the next, there and back. */
  static List<Lane> inOrder(Timeline timeline) {
    List<Lane> lanes = new ArrayList<>(timeline.lanes());
    lanes.sort(
        new Comparator<Lane>() { // not a lambda: those load slowly
          @Override
          public int compare(Lane a, Lane b) {
            int upper = Integer.compare(upperStage(a), upperStage(b));
            return upper != 0 ? upper : Integer.compare(place(a), place(b));
          }
        });
    return lanes;
  }

  /** {@code rank 0} of a schedule, {@code stage 0} where devices run it. */
  static String name(Lane.Compute lane) {
    return (lane.devices().isEmpty() ? "rank " : "stage ") + lane.rank();
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

  private static boolean together(Slice one, Slice next) {
    return !one.kind().exchanges() && !next.kind().exchanges() && one.runsWith(next);
  }

  private static int upperStage(Lane lane) {
    return lane instanceof Lane.Link link
        ? Math.min(link.from(), link.to())
        : ((Lane.Compute) lane).rank();
  }

  private static int place(Lane lane) {
    if (lane instanceof Lane.Link link) {
      return link.from() < link.to() ? 1 : 2;
    }
    return 0;
  }

  /** Which kinds of work occur, by the number of their look. */
  static boolean[] kinds(Timeline timeline) {
    boolean[] kinds = new boolean[KINDS];
    for (Lane lane : timeline.lanes()) {
      for (Slice slice : lane.slices()) {
        kinds[Look.of(slice.kind()).ordinal()] = true;
      }
    }
    return kinds;
  }

  static int slices(Timeline timeline) {
    int slices = 0;
    for (Lane lane : timeline.lanes()) {
      slices += lane.slices().size();
    }
    return slices;
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
      double[] share = shares[Look.of(slice.kind()).ordinal()];
      for (int bin = (int) from; bin < to; bin++) {
        share[bin] += Math.min(to, bin + 1) - Math.max(from, bin);
      }
    }
    return shares;
  }
}

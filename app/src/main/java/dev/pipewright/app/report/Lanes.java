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

  static List<Lane.Compute> compute(Timeline timeline) {
    List<Lane.Compute> lanes = new ArrayList<>();
    for (Lane lane : inOrder(timeline)) {
      if (lane instanceof Lane.Compute compute) {
        lanes.add(compute);
      }
    }
    return lanes;
  }

  private static int upperStage(Lane lane) {
    return lane instanceof Lane.Link link
        ? Math.min(link.from(), link.to())
        : ((Lane.Compute) lane).stage();
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
        kinds[Look.of(slice.kind()).number] = true;
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
      double[] share = shares[Look.of(slice.kind()).number];
      for (int bin = (int) from; bin < to; bin++) {
        share[bin] += Math.min(to, bin + 1) - Math.max(from, bin);
      }
    }
    return shares;
  }
}

package dev.pipewright.app.report.plan;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What a rank spends a step on, in seconds that add up to the step: what the picture of its lane
 * shows, measured along the axis.
 */
record Occupation(int rank, Map<Part, Double> parts) {
  /** Backward passes, whole or split, and what they compute again. */
  private static final Set<Kind> BACKWARD =
      Set.of(Kind.BACKWARD, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT, Kind.RECOMPUTE);

  /** The parts of a step. Each counts only the time that none before it has. */
  enum Part {
    FORWARD("forward", "forward"),
    BACKWARD("backward", "backward"),
    EXPOSED("exposed collectives", "reduce"),
    UPDATE("update", "update"),
    /** Data is under way on a link to the rank. */
    WAITING("waiting for a transfer", "transfer"),
    IDLE("idle", "idle");

    final String word;

    /** Its class in the page. */
    final String style;

    Part(String word, String style) {
      this.word = word;
      this.style = style;
    }
  }

  double seconds(Part part) {
    return parts.getOrDefault(part, 0.0);
  }

  /** Of every rank, in order. */
  static List<Occupation> of(Timeline timeline) {
    List<Occupation> ranks = new ArrayList<>();
    for (Lane.Compute lane : timeline.compute()) {
      ranks.add(of(timeline, lane));
    }
    return ranks;
  }

  private static Occupation of(Timeline timeline, Lane.Compute lane) {
    List<Slice> incoming = new ArrayList<>();
    for (Lane other : timeline.lanes()) {
      if (other instanceof Lane.Link link && link.to() == lane.rank()) {
        incoming.addAll(link.slices());
      }
    }
    Cover cover = new Cover();
    Map<Part, Double> parts = new EnumMap<>(Part.class);
    parts.put(Part.FORWARD, cover.add(slices(lane, Kind.FORWARD::equals)));
    parts.put(Part.BACKWARD, cover.add(slices(lane, BACKWARD::contains)));
    parts.put(Part.EXPOSED, cover.add(slices(lane, Kind::exchanges)));
    parts.put(Part.UPDATE, cover.add(slices(lane, Kind.UPDATE::equals)));
    parts.put(Part.WAITING, cover.add(incoming));
    parts.put(Part.IDLE, Math.max(0, timeline.stepSeconds() - cover.seconds()));
    return new Occupation(lane.rank(), parts);
  }

  private static List<Slice> slices(Lane lane, Predicate<Kind> wanted) {
    List<Slice> slices = new ArrayList<>();
    for (Slice slice : lane.slices()) {
      if (wanted.test(slice.kind())) {
        slices.add(slice);
      }
    }
    return slices;
  }

  /** A growing union of intervals of time. */
  private static final class Cover {
    private List<double[]> intervals = new ArrayList<>(); // from, to; disjoint, in order

    double seconds() {
      double seconds = 0;
      for (double[] interval : intervals) {
        seconds += interval[1] - interval[0];
      }
      return seconds;
    }

    /** Adds intervals and says by how much the union grew. */
    double add(List<Slice> slices) {
      double before = seconds();
      for (Slice slice : slices) {
        intervals.add(new double[] {slice.start(), slice.end()});
      }
      intervals.sort((a, b) -> Double.compare(a[0], b[0]));
      List<double[]> merged = new ArrayList<>();
      double[] last = {Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY};
      for (double[] interval : intervals) {
        if (interval[0] > last[1]) {
          last = interval;
          merged.add(last);
        } else {
          last[1] = Math.max(last[1], interval[1]);
        }
      }
      intervals = merged;
      return seconds() - before;
    }
  }
}

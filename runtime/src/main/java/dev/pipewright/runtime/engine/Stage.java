package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import java.util.ArrayList;
import java.util.List;

/**
 * The layers of a stage on one worker, cut into segments: runs of layers whose histories are apart,
 * so that the backward pass goes from one to the next. The gradients of a segment are complete when
 * the pass has left it, and a segment may be computed again on its own.
 */
final class Stage {
  private final LayerRange range;
  private final Part whole;
  private final List<Segment> segments;
  private final Recompute recompute;

  /** A run of layers, and whether they are computed again for the backward pass. */
  record Segment(Part part, LayerRange range, boolean again) {}

  private Stage(LayerRange range, Part whole, List<Segment> segments, Recompute recompute) {
    this.range = range;
    this.whole = whole;
    this.segments = List.copyOf(segments);
    this.recompute = recompute;
  }

  /** The layers of each stage of a chain as one part. */
  static List<Part> parts(Assignment assignment, Network network) {
    return assignment.stages().stream()
        .map(stage -> network.part(stage.range().first(), stage.range().last()))
        .toList();
  }

  /**
   * @param bucketBytes of parameters after which a segment ends; {@link Long#MAX_VALUE} for one
   *     segment where nothing is computed again
   */
  static Stage of(Network network, StageLayers layers, long bucketBytes) {
    return of(network, layers, bucketBytes, false);
  }

  /**
   * Likewise.
   *
   * @param withFollowing whether layers without parameters belong to the segment before them, so
   *     that less is handed from segment to segment
   */
  static Stage of(Network network, StageLayers layers, long bucketBytes, boolean withFollowing) {
    LayerRange range = layers.range();
    Part whole = network.part(range.first(), range.last());
    List<Segment> segments = new ArrayList<>();
    int first = range.first();
    while (first <= range.last()) {
      int from = first;
      LayerRange run =
          layers.again().stream().filter(r -> r.first() == from).findFirst().orElse(null);
      int last =
          run != null ? run.last() : bucketEnd(network, layers, first, bucketBytes, withFollowing);
      LayerRange own = new LayerRange(first, last);
      Part part = network.part(first, last, first == range.first(), last == range.last());
      segments.add(new Segment(part, own, run != null));
      first = last + 1;
    }
    return new Stage(range, whole, segments, layers.recompute());
  }

  /** The last layer of the segment that begins at {@code first}. */
  private static int bucketEnd(
      Network network, StageLayers layers, int first, long bucketBytes, boolean withFollowing) {
    int last = layers.range().last();
    for (int at = first; at < last; at++) {
      int next = at + 1;
      boolean againNext = layers.again().stream().anyMatch(r -> r.first() == next);
      boolean cuts = againNext || bucketBytes < Long.MAX_VALUE;
      if (cuts
          && network.separates(first, at, last)
          && (againNext || bytes(network.part(first, at).parameters()) >= bucketBytes)
          && (againNext || !withFollowing || !takes(network, first, at, last))) {
        return at;
      }
    }
    return last;
  }

  /** Whether a run may take the position behind {@code at} too, and get no parameters by it. */
  private static boolean takes(Network network, int first, int at, int last) {
    int next = at + 1;
    return network.separates(first, at, next)
        && (next == last || network.separates(first, next, last))
        && network.part(next, next).parameters().isEmpty();
  }

  /** Of whole parameters, so that all who compute a layer together cut at the same places. */
  private static long bytes(List<Parameter> parameters) {
    return parameters.stream().mapToLong(Parameter::wholeBytes).sum();
  }

  /** Its layers' positions in the network's chain. */
  LayerRange range() {
    return range;
  }

  /** All its layers as one. */
  Part whole() {
    return whole;
  }

  List<Segment> segments() {
    return segments;
  }

  /** Whether the forward pass keeps nothing but the stage's input. */
  boolean keepsInputOnly() {
    return recompute == Recompute.STAGE_INPUT;
  }
}

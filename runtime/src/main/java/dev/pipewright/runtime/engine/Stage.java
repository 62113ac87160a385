package dev.pipewright.runtime.engine;

import dev.pipewright.exchange.Segment;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Part;
import java.util.ArrayList;
import java.util.List;

/** The layers of a stage on one worker, cut into {@linkplain Segment segments}. */
final class Stage {
  private final LayerRange range;
  private final Part whole;
  private final List<OwnSegment> segments;
  private final Recompute recompute;

  /** A segment's layers. */
  record OwnSegment(Part part, LayerRange range, boolean again) {}

  private Stage(LayerRange range, Part whole, List<OwnSegment> segments, Recompute recompute) {
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

  /** The stage as {@link Segment} cuts it where steps end with a flush. */
  static Stage of(WorkerSetup setup, int depth) {
    return of(setup.assignment(), depth, setup.network(), setup.bucketBytes());
  }

  static Stage of(Assignment assignment, int depth, Network network, long bucketBytes) {
    StageLayers layers = assignment.stages().get(depth);
    return of(network, layers, Segment.of(assignment, depth, network.chain(), bucketBytes));
  }

  /** The stage of an asynchronous pipeline, which is cut only where something is recomputed. */
  static Stage whole(Network network, StageLayers layers) {
    return of(network, layers, Segment.whole(layers, network.chain()));
  }

  private static Stage of(Network network, StageLayers layers, List<Segment> cut) {
    LayerRange range = layers.range();
    Part whole = network.part(range.first(), range.last());
    List<OwnSegment> segments = new ArrayList<>();
    for (Segment each : cut) {
      int first = each.range().first();
      int last = each.range().last();
      Part part = network.part(first, last, first == range.first(), last == range.last());
      segments.add(new OwnSegment(part, each.range(), each.again()));
    }
    return new Stage(range, whole, segments, layers.recompute());
  }

  /** Its layers' positions in the network's chain. */
  LayerRange range() {
    return range;
  }

  /** All its layers as one. */
  Part whole() {
    return whole;
  }

  List<OwnSegment> segments() {
    return segments;
  }

  /** Whether the forward pass keeps nothing but the stage's input, but of exceptions. */
  boolean keepsInputOnly() {
    return recompute.wholeStage();
  }
}

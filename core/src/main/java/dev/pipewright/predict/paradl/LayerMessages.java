package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Collectives;
import java.util.List;

/** Seconds that the devices of a group talk to each other in the layers that they share out. */
final class LayerMessages {
  private final SplitCase split;
  private final Collectives group;
  private double gather;
  private double reduce;
  private double halo;

  private LayerMessages(SplitCase split, Collectives group) {
    this.split = split;
    this.group = group;
  }

  /** {@code phases} with the messages of all layers. */
  static Phases added(Phases phases, SplitCase split, Collectives group) {
    LayerMessages messages = new LayerMessages(split, group);
    boolean first = true;
    for (int layer = 0; layer < split.size(); layer++) {
      if (split.share(layer).split()) {
        messages.add(layer, first);
      }
      first &= !split.layer(layer).kind().product();
    }
    return phases
        .with(Phase.LAYER_ALL_GATHER, messages.gather)
        .with(Phase.LAYER_ALL_REDUCE, messages.reduce)
        .with(Phase.HALO, messages.halo);
  }

  private void add(int layer, boolean first) {
    switch (split.split()) {
      case FILTERS -> filters(layer, first);
      case CHANNELS -> channels(layer);
      case POSITIONS -> positions(layer);
      case NOTHING, HEADS, SEQUENCES ->
          throw new IllegalStateException("nothing is split: " + split);
    }
  }

  /** Gathers y forward, sums the shares of dL/dx backward; nobody needs that of the first. */
  private void filters(int layer, boolean first) {
    gather += group.ringAllGather(split.outputBytes(layer));
    reduce += first ? 0 : group.ringAllReduce(split.inputBytes(layer));
  }

  /** Sums the shares of y forward, gathers dL/dx backward. */
  private void channels(int layer) {
    reduce += group.ringAllReduce(split.outputBytes(layer));
    gather += group.ringAllGather(split.inputBytes(layer));
  }

  /** Gathers y where others need it whole, and dL/dx; slices of what is whole cost nothing. */
  private void positions(int layer) {
    if (split.share(layer).gathersBefore()) {
      gather += group.ringAllGather(split.inputBytes(layer));
    }
    if (split.share(layer).gathersAfter()) {
      gather += group.ringAllGather(split.outputBytes(layer));
    }
    halo += haloSeconds(split.layer(layer));
  }

  /** Along each axis to one neighbour and then to the other: x forward, dL/dy backward. */
  private double haloSeconds(Geometry layer) {
    double seconds = 0;
    List<Integer> grid = split.layout().grid();
    for (int axis = 0; axis < grid.size(); axis++) {
      int parts = grid.get(axis);
      if (parts > 1 && !layer.window().kernel().isEmpty()) {
        int in = layer.in().get(axis);
        int out = layer.out().get(axis);
        int reach = layer.window().reach(axis);
        int stride = layer.window().stride().get(axis);
        int padding = layer.window().padding().get(axis);
        ParadlHalo x = ParadlHalo.forward(in, out, reach, stride, padding, parts);
        ParadlHalo y = ParadlHalo.backward(in, out, reach, stride, padding, parts);
        seconds += neighbours(x, rowBytes(layer.in(), layer.channels(), axis), parts);
        seconds += neighbours(y, rowBytes(layer.out(), layer.filters(), axis), parts);
      }
    }
    return seconds;
  }

  /** Bytes of one row of the part's other extents. */
  private double rowBytes(List<Integer> extents, int channels, int axis) {
    double elements = channels;
    for (int other = 0; other < extents.size(); other++) {
      if (other != axis) {
        elements *= ParadlHalo.largest(extents.get(other), split.layout().grid().get(other));
      }
    }
    return elements * split.samples() * split.network().bytesPerElement();
  }

  /** Two parts have one neighbour each and exchange at the same time. */
  private double neighbours(ParadlHalo halo, double rowBytes, int parts) {
    double before = group.pointToPoint(halo.before() * rowBytes);
    double after = group.pointToPoint(halo.after() * rowBytes);
    return parts == 2 ? Math.max(before, after) : before + after;
  }
}

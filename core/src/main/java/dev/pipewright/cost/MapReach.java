package dev.pipewright.cost;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Halo;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Span;
import dev.pipewright.parallel.Windows;
import java.util.ArrayList;
import java.util.List;

/**
 * The maps that a part of a layer computes with: its own places with the rows of others and the
 * padding that its windows reach over, which it puts together first.
 *
 * @param elements of a sample, in such maps
 * @param own how many of them are the part's own
 * @param averages elements of a sample that averages over all places keep
 */
record MapReach(double elements, double own, double averages) {
  static final MapReach NONE = new MapReach(0, 0, 0);

  /** What averages over all places keep, for each element: differences, and these when scaled. */
  private static final double NORMALIZED = 2;

  /** Rows of others are joined to its own, then padding: each time all are read and written. */
  private static final double MOVED = 4;

  /** Of the largest part of a layer in a region that is cut. */
  static MapReach of(LayerGraph graph, int layer, Parallelism split) {
    List<Integer> map = new ArrayList<>(CutRegion.mapBefore(graph, layer).orElse(List.of()));
    int channels = graph.layer(graph.predecessors(layer)[0]).output().orElseThrow().extent(0);
    double elements = 0;
    double own = 0;
    double averages = 0;
    for (Operator step : graph.layer(layer).steps()) {
      if (Windows.of(step).isPresent()) {
        Windows windows = Windows.of(step).get();
        long reached = reached(windows, map, split);
        elements += channels * (double) reached;
        own += reached == 0 ? 0 : channels * (double) places(map, split);
        map = windows.places(map);
        channels = step instanceof Operator.Convolution c ? c.outChannels() : channels;
      } else if (step instanceof Operator.Normalization n) {
        averages += NORMALIZED * n.features() * places(map, split);
      }
    }
    return new MapReach(elements, own, averages);
  }

  /** Of the largest part. */
  private static long places(List<Integer> map, Parallelism split) {
    long places = 1;
    for (int axis = 0; axis < map.size(); axis++) {
      places *= Math.ceilDiv(map.get(axis), split.grid().get(axis));
    }
    return places;
  }

  /** Places of the largest part with all that its windows reach; 0 where it has all of them. */
  private static long reached(Windows windows, List<Integer> map, Parallelism split) {
    long places = 1;
    boolean more = false;
    for (int axis = 0; axis < map.size(); axis++) {
      int parts = split.grid().get(axis);
      if (parts == 1) {
        places *= map.get(axis);
        continue;
      }
      Halo halo = windows.halo(axis, map.get(axis), parts);
      long most = 0;
      for (int part = 0; part < parts; part++) {
        Span needed = halo.needed(part);
        most = Math.max(most, needed.count() + halo.paddingBefore(part) + halo.paddingAfter(part));
      }
      more |= halo.exchanges();
      places *= most;
    }
    return more ? places : 0;
  }

  /** Of a sample that a worker holds and one alone would not. */
  double beside() {
    return elements + averages;
  }

  /** Elements of a sample that either pass moves to put maps or their gradients together. */
  double moved() {
    return MOVED * elements;
  }

  /** Places that the input's gradient is computed for, for each of the part's own. */
  double places() {
    return own == 0 ? 1 : elements / own;
  }
}

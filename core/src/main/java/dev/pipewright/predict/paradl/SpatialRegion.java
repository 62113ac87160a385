package dev.pipewright.predict.paradl;

import java.util.List;

/**
 * The layers whose positions a grid shares out: those that may be split, in which every part keeps
 * a position and needs no neighbour's neighbour. Layers that work on each position by itself
 * (normalisation, activation, sum) follow what they read.
 */
final class SpatialRegion {
  private final NetworkShapes shapes;
  private final boolean[] inside;

  SpatialRegion(NetworkShapes shapes, List<Integer> grid) {
    this.shapes = shapes;
    this.inside = new boolean[shapes.size()];
    for (int layer : shapes.graph().topological()) {
      inside[layer] = fits(shapes, layer, grid) && wanted(layer);
    }
  }

  private boolean wanted(int layer) {
    Geometry l = shapes.layer(layer);
    boolean follows = l.kind() == Geometry.Kind.CHANNEL_WISE && l.window().kernel().isEmpty();
    return l.kind() == Geometry.Kind.INPUT || (follows ? follows(layer) : shapes.mayBeSplit(layer));
  }

  private boolean follows(int layer) {
    for (int from : shapes.graph().predecessors(layer)) {
      if (!inside[from]) {
        return false;
      }
    }
    return true;
  }

  /** Whether each part of the grid has at least one position, and enough for its neighbours. */
  static boolean fits(NetworkShapes shapes, int layer, List<Integer> grid) {
    Geometry l = shapes.layer(layer);
    if (l.kind() == Geometry.Kind.INPUT) {
      return fits(l.out(), grid);
    }
    if (!l.hasPositions() || !fits(l.out(), grid)) {
      return false;
    }
    for (int axis = 0; axis < grid.size(); axis++) {
      int parts = grid.get(axis);
      if (parts > 1) {
        int smallest = l.in().get(axis) / parts;
        if (l.window().reach(axis) > Math.max(0, smallest) * 2 || l.in().get(axis) < parts) {
          return false; // a window as large as the map is a global pooling: gather before it
        }
      }
    }
    return true;
  }

  private static boolean fits(List<Integer> extents, List<Integer> grid) {
    if (extents.size() != grid.size()) {
      return false;
    }
    for (int axis = 0; axis < grid.size(); axis++) {
      if (extents.get(axis) < grid.get(axis)) {
        return false;
      }
    }
    return true;
  }

  boolean contains(int layer) {
    return inside[layer];
  }

  /** Whether it reads a layer outside, which needs the whole gradient. */
  boolean gathersBefore(int layer) {
    return inside[layer] && !follows(layer);
  }

  /** Whether somebody outside reads this layer; who needs the input whole loads it whole. */
  boolean gathersAfter(int layer) {
    if (shapes.layer(layer).kind() == Geometry.Kind.INPUT) {
      return false;
    }
    for (int reader : shapes.graph().successors(layer)) {
      if (inside[layer] && !inside[reader]) {
        return true;
      }
    }
    return false;
  }

  /** Whether there is anything to split. */
  boolean any() {
    for (int layer = 0; layer < inside.length; layer++) {
      if (inside[layer] && shapes.layer(layer).kind() != Geometry.Kind.INPUT) {
        return true;
      }
    }
    return false;
  }
}

package dev.pipewright.model;

import java.util.Optional;
import java.util.OptionalInt;

/** What one sample of a network is, as far as the network's first layer says. */
public enum Samples {
  IMAGES,
  VOLUMES,
  /** Of tokens. */
  SEQUENCES,
  /** Rows of features. */
  VECTORS,
  UNKNOWN;

  /** O(1). */
  public static Samples of(LayerGraph graph) {
    Layer first = first(graph);
    if (first.operator() instanceof Operator.Embedding
        || first.operator() instanceof Operator.Tokens) {
      return SEQUENCES;
    }
    Optional<Shape> shape = first.output();
    if (!(first.operator() instanceof Operator.Input) || shape.isEmpty()) {
      return UNKNOWN;
    }
    return switch (shape.get().extents().size()) {
      case 1 -> VECTORS;
      case 3 -> IMAGES;
      case 4 -> VOLUMES;
      default -> UNKNOWN;
    };
  }

  /** Tokens of one sample; empty where a sample is no sequence of them or its length is unknown. */
  public static OptionalInt tokens(LayerGraph graph) {
    Layer first = first(graph);
    return of(graph) == SEQUENCES && first.output().isPresent()
        ? OptionalInt.of(first.output().get().extent(0))
        : OptionalInt.empty();
  }

  private static Layer first(LayerGraph graph) {
    return graph.layer(graph.topological()[0]);
  }
}

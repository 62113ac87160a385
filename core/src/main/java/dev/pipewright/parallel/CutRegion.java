package dev.pipewright.parallel;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.parallel.Parallelism.Kind;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The layers between which tensors stay cut, so that each worker of a group has its part of them
 * only: places of maps, steps of sequences. All other layers hand on whole tensors.
 *
 * <p>Maps are cut where every part keeps a position and no window reaches far beyond a neighbour
 * (ParaDL §3.2: whole again before global pooling and fully connected layers); layers that work on
 * each position by itself follow what they read.
 */
public final class CutRegion {
  private final LayerGraph graph;
  private final Parallelism split; // of a copy of the group
  private final boolean alike;
  private final boolean[] inside;

  /** Of a stage that begins and ends with whole tensors. */
  public CutRegion(LayerGraph graph, Parallelism split) {
    this(graph, split, false);
  }

  /**
   * Of a stage.
   *
   * @param alike whether all stages divide layers like this one, so that tokens stay divided
   *     between them
   */
  public CutRegion(LayerGraph graph, Parallelism split, boolean alike) {
    this.graph = graph;
    this.split = split.ofCopy();
    this.alike = alike;
    this.inside = new boolean[graph.size()];
    if (this.split.several()) {
      for (int layer : graph.topological()) {
        inside[layer] = cut(layer);
      }
    }
  }

  public LayerGraph graph() {
    return graph;
  }

  /** Whether a layer reads and makes parts. */
  public boolean contains(int layer) {
    return inside[layer];
  }

  /** Extents of the map that a layer reads, where that is known. */
  public static Optional<List<Integer>> mapBefore(LayerGraph graph, int layer) {
    int[] from = graph.predecessors(layer);
    return from.length == 0 ? Optional.empty() : map(graph.layer(from[0]).output());
  }

  private static Optional<List<Integer>> map(Optional<Shape> shape) {
    return shape
        .map(Shape::extents)
        .filter(extents -> extents.size() > 2)
        .map(extents -> extents.subList(1, extents.size()));
  }

  /** Tokens of a block whose steps can be divided where each is worked on by itself. */
  private static OptionalInt sequence(Operator operator) {
    if (operator instanceof Operator.TransformerBlock block) {
      return OptionalInt.of(block.sequence());
    }
    return operator instanceof Operator.ShapedBlock block
        ? OptionalInt.of(block.sequence())
        : OptionalInt.empty();
  }

  /**
   * Whether what a layer makes stays cut where its stage ends: the network's result, whose loss
   * each worker computes for its tokens, and what stages that divide alike send each other.
   */
  public boolean staysCut(int layer) {
    boolean last = graph.successors(layer).length == 0;
    return inside[layer] && (last ? split.dividesTokens() : alike && split.kind() != Kind.SPATIAL);
  }

  private boolean cut(int number) {
    Layer layer = graph.layer(number);
    if (split.dividesTokens()) {
      return tokens(number) >= split.tokenParts();
    }
    if (split.kind() == Kind.SEQUENCE) {
      return layer.steps().size() == 1 && sequence(layer.operator()).orElse(0) >= split.parts();
    }
    if (split.kind() != Kind.SPATIAL) {
      return false;
    }
    Optional<List<Integer>> map = mapBefore(graph, number);
    if (map.isEmpty() || map.get().size() != split.grid().size()) {
      return false;
    }
    boolean windows = false;
    List<Integer> extents = map.get();
    for (Operator step : layer.steps()) {
      Optional<Windows> window = Windows.of(step);
      if (window.isPresent()) {
        List<Integer> out = window.get().places(extents);
        if (!fits(extents, window.get()) || !fits(out)) {
          return false;
        }
        windows = true;
        extents = out;
      } else if (!eachByItself(step)) {
        return false;
      }
    }
    return windows || followsOnly(number);
  }

  /** Tokens of a sample, where a layer treats each by itself or by attention; 0 elsewhere. */
  private int tokens(int number) {
    Layer layer = graph.layer(number);
    int made = rows(layer);
    for (int from : graph.predecessors(number)) {
      if (rows(graph.layer(from)) != made) {
        return 0;
      }
    }
    return layer.steps().stream().allMatch(step -> eachToken(layer, step)) ? made : 0;
  }

  private static int rows(Layer layer) {
    return layer
        .output()
        .filter(shape -> shape.extents().size() == 2)
        .map(shape -> shape.extent(0))
        .orElse(0);
  }

  private static boolean eachToken(Layer layer, Operator operator) {
    return switch (operator) {
      case Operator.Embedding e -> true;
      case Operator.Positions p -> true;
      case Operator.Segments s -> true;
      case Operator.Mask m -> true;
      case Operator.Carried c -> true;
      case Operator.Residual r -> true;
      case Operator.Linear l -> true;
      case Operator.TiedScores t -> true;
      case Operator.TiedEmbedding t -> true;
      case Operator.Elementwise e -> true;
      case Operator.Normalization n -> n.kind() != Operator.Normalization.Kind.BATCH;
      default -> BlockShape.of(layer, operator).isPresent();
    };
  }

  private boolean fits(List<Integer> extents) {
    for (int axis = 0; axis < extents.size(); axis++) {
      if (extents.get(axis) < split.grid().get(axis)) {
        return false;
      }
    }
    return true;
  }

  /** Whether each part has rows, and enough for its neighbours. */
  private boolean fits(List<Integer> extents, Windows window) {
    for (int axis = 0; axis < extents.size(); axis++) {
      int parts = split.grid().get(axis);
      if (parts > 1 && window.reach(axis) > 2 * (extents.get(axis) / parts)) {
        return false; // a window as large as the map is a global pooling
      }
    }
    return fits(extents);
  }

  private boolean followsOnly(int layer) {
    for (int from : graph.predecessors(layer)) {
      if (!inside[from]) {
        return false;
      }
    }
    return true;
  }

  /** Whether an operator treats each position of a map by itself. */
  private static boolean eachByItself(Operator operator) {
    return switch (operator) {
      case Operator.Normalization n -> n.kind() == Operator.Normalization.Kind.BATCH;
      case Operator.Elementwise(String function) -> !function.equals("softmax");
      case Operator.Concatenation() -> true;
      default -> false;
    };
  }
}

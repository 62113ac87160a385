package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.Parallelism;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Whether a network that was read from a file can be computed: all of its layers are operators,
 * each reads as many elements as the layer before it gives, and one of them gives the result. A
 * profile may say less, because planning needs sizes and times only.
 */
public final class Computable {
  /** The functions of each element, and of several inputs, that layers can apply. */
  static final Set<String> FUNCTIONS = Set.of("relu", "gelu", "tanh", "softmax", "add", "dropout");

  private Computable() {}

  /**
   * What keeps the network from being computed, as a sentence about it; empty where nothing does.
   */
  public static Optional<String> refusal(LayerGraph graph) {
    Optional<String> lacking = lacking(graph);
    if (lacking.isPresent()) {
      return lacking;
    }
    Optional<String> undescribed = undescribed(graph);
    if (undescribed.isPresent()) {
      return undescribed;
    }
    for (int number = 0; number < graph.size(); number++) {
      Layer layer = graph.layer(number);
      for (int before : graph.predecessors(number)) {
        if (!fits(graph.layer(before), layer)) {
          return Optional.of(
              "its layer %s does not fit what %s gives, %s; give the operators between them, too"
                  .formatted(
                      layer.name(),
                      graph.layer(before).name(),
                      graph.layer(before).output().orElseThrow()));
        }
      }
    }
    List<String> last =
        IntStream.range(0, graph.size())
            .filter(number -> graph.successors(number).length == 0)
            .mapToObj(number -> graph.layer(number).name())
            .toList();
    return last.size() == 1
        ? Optional.empty()
        : Optional.of(
            "no layer reads what %s give; give a network with one result"
                .formatted(String.join(" and ", last)));
  }

  /**
   * What keeps a network that is computable from being computed by groups that split its layers so,
   * as a sentence; empty where nothing does.
   */
  public static Optional<String> refusal(LayerGraph graph, Parallelism split) {
    boolean features = split.dividesFeatures();
    for (Layer layer : features ? graph.layers() : List.<Layer>of()) {
      if (layer.operator() instanceof Operator.ShapedBlock block) {
        Optional<String> whole = ShapedBlockModule.undivided(block, split);
        if (whole.isPresent()) {
          return Optional.of(
              "layer %s of %s has %s, which the runtime does not divide in %d; take fewer parts or another kind"
                  .formatted(layer.name(), graph.name(), whole.get(), split.pieces()));
        }
      }
    }
    return Optional.empty();
  }

  /** The first layer of which only sizes and times are known, as a sentence; empty without one. */
  public static Optional<String> undescribed(LayerGraph graph) {
    for (Layer layer : graph.layers()) {
      Optional<String> unknown = layer.steps().stream().flatMap(Computable::unknown).findFirst();
      if (unknown.isPresent()) {
        return Optional.of(
            "of its layer %s (%s) only sizes and times are known; give a network all of whose layers are operators"
                .formatted(layer.name(), unknown.get()));
      }
    }
    return Optional.empty();
  }

  /** What a block has that no module computes, as a sentence; empty where none has. */
  public static Optional<String> lacking(LayerGraph graph) {
    for (Layer layer : graph.layers()) {
      Optional<String> lacking = layer.steps().stream().flatMap(Computable::lacking).findFirst();
      if (lacking.isPresent()) {
        return Optional.of(lacking(layer.name(), lacking.get()));
      }
    }
    return Optional.empty();
  }

  private static Stream<String> lacking(Operator operator) {
    return operator instanceof Operator.ShapedBlock block
        ? ShapedBlockModule.lacking(block).stream()
        : Stream.empty();
  }

  /** The sentence about a layer's block that has what no module computes. */
  static String lacking(String layer, String what) {
    return "its layer %s has %s, which the runtime does not compute; take a decoder with grouped-query attention to whole sequences"
        .formatted(layer, what);
  }

  private static Stream<String> unknown(Operator operator) {
    return switch (operator) {
      case Operator.Block(String kind) -> Stream.of(kind);
      case Operator.Recorded(String description) -> Stream.of(description);
      case Operator.Elementwise(String function) when !FUNCTIONS.contains(function) ->
          Stream.of(function);
      default -> Stream.empty();
    };
  }

  /**
   * Whether shapes fit, as far as they are known; a product may read a whole map as a row, or the
   * first features.
   */
  private static boolean fits(Layer before, Layer layer) {
    if (before.output().isEmpty() || layer.output().isEmpty()) {
      return true;
    }
    List<Integer> given = before.output().get().extents();
    boolean row = layer.output().get().extents().size() == 1;
    return switch (layer.steps().get(0)) {
      case Operator.Linear linear when given.size() >= 3 && row ->
          linear.in() == before.outputElements();
      case Operator.Linear linear ->
          linear.in() <= given.get(given.size() - 1) || linear.in() == before.outputElements();
      case Operator.Convolution convolution -> convolution.inChannels() == given.get(0);
      case Operator.Elementwise any -> layer.outputElements() == before.outputElements();
      default -> true;
    };
  }
}

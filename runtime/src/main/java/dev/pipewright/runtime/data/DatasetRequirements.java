package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.runtime.net.LossFunction;
import java.util.ArrayList;
import java.util.List;

/**
 * The inputs and targets that a network requires of a data set.
 *
 * @param network its name, for messages
 * @param inputs of its layers that read no other, in the graph's order
 */
public record DatasetRequirements(String network, List<Input> inputs, Answer answer) {
  public DatasetRequirements {
    inputs = List.copyOf(inputs);
  }

  /** What follows from a network's first layers and its last. */
  public static DatasetRequirements of(LayerGraph graph, LossFunction objective) {
    List<Input> inputs = new ArrayList<>();
    Layer last = graph.layer(0);
    for (int layer : graph.topological()) {
      last = graph.layer(layer);
      if (graph.predecessors(layer).length == 0) {
        inputs.add(input(graph.name(), last));
      }
    }
    return new DatasetRequirements(graph.name(), inputs, answer(last, objective));
  }

  private static Input input(String graph, Layer source) {
    Shape shape = shape(source);
    return switch (source.operator()) {
      case Operator.Input() -> new Input.Field(shape);
      case Operator.Tokens(int vocabulary) -> new Input.Tokens(shape.extent(0), vocabulary);
      case Operator.Embedding(int vocabulary, int features) ->
          new Input.Tokens(shape.extent(0), vocabulary);
      default ->
          throw new BadInputException(
              "%s: layer %s cannot be the first of a network that is trained; begin with an input"
                  .formatted(graph, source.name()));
    };
  }

  private static Answer answer(Layer last, LossFunction objective) {
    Shape shape = shape(last);
    if (objective == LossFunction.SQUARED_ERROR) {
      return new Answer.Quantities(Math.toIntExact(shape.elements()));
    }
    return shape.extents().size() == 1
        ? new Answer.Classes(shape.extent(0))
        : new Answer.Tokens(shape.extent(0), shape.extent(1));
  }

  private static Shape shape(Layer layer) {
    return layer
        .output()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "a network is trained where its shapes are known: layer=" + layer.name()));
  }

  /** What one layer reads of a sample. */
  public sealed interface Input {
    /** Floating-point numbers: an image as channels × extents, or a row of features. */
    record Field(Shape shape) implements Input {
      @Override
      public String toString() {
        return "images of " + shape;
      }
    }

    /** Numbers of tokens, each below the vocabulary. */
    record Tokens(int steps, int vocabulary) implements Input {
      @Override
      public String toString() {
        return steps + " tokens of " + vocabulary;
      }
    }
  }

  /** What it answers for a sample. */
  public sealed interface Answer {
    /** A score for each class. */
    record Classes(int count) implements Answer {
      @Override
      public String toString() {
        return "one of " + count + " classes";
      }
    }

    /** A score for each token at each step. */
    record Tokens(int steps, int vocabulary) implements Answer {
      @Override
      public String toString() {
        return steps + " tokens of " + vocabulary;
      }
    }

    /** Quantities. */
    record Quantities(int count) implements Answer {
      @Override
      public String toString() {
        return count + " quantities";
      }
    }
  }
}

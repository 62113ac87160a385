package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A network from a file is trained only if it says what every layer computes. */
class ComputableTest {
  private static Layer layer(String name, Operator operator, Integer... extents) {
    Shape shape = Shape.of(extents);
    return new Layer(name, operator, Optional.of(shape), 0, shape.elements(), 0, Work.NONE);
  }

  private static LayerGraph perceptron(Layer... between) {
    List<Layer> layers = new ArrayList<>();
    layers.add(layer("input", new Operator.Input(), 1, 4, 4));
    layers.add(layer("first", new Operator.Linear(16, 8, true), 8));
    layers.addAll(List.of(between));
    layers.add(layer("last", new Operator.Linear(8, 2, true), 2));
    return LayerGraph.chain("net", layers);
  }

  private static String refusal(LayerGraph graph) {
    return Computable.refusal(graph).orElse("none");
  }

  @Test
  void operatorsAreComputed() {
    assertEquals("none", refusal(perceptron()));
    assertEquals("none", refusal(perceptron(layer("relu", new Operator.Elementwise("relu"), 8))));
  }

  /** What `profile` writes of them is trained, too. */
  @ParameterizedTest
  @MethodSource("known")
  void networksOfTheZooAreComputed(String name) {
    assertEquals("none", refusal(SmallNetwork.network(name, 1).graph()));
  }

  static List<String> known() {
    return List.of(SmallNetwork.NAMES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"relu", "gelu", "tanh", "softmax", "add", "dropout"})
  void everyFunctionThatIsSaidToBeComputedHasAModule(String function) {
    LayerGraph graph = perceptron(layer("between", new Operator.Elementwise(function), 8));
    assertEquals("none", refusal(graph));
    new Modules(graph, 1).of(2);
  }

  @Test
  void blocksAndUnknownFunctionsAreNamed() {
    assertEquals(
        "of its layer mystery (log_softmax) only sizes and times are known; give a network all of"
            + " whose layers are operators",
        refusal(perceptron(layer("mystery", new Operator.Block("log_softmax"), 8))));
    assertEquals(
        "of its layer act (silu) only sizes and times are known; give a network all of whose layers"
            + " are operators",
        refusal(perceptron(layer("act", new Operator.Elementwise("silu"), 8))));
  }

  @Test
  void aMissingOperatorShowsInTheShapes() {
    LayerGraph graph =
        LayerGraph.chain(
            "net",
            List.of(
                layer("input", new Operator.Input(), 4, 6, 6),
                layer("head", new Operator.Linear(36, 2, true), 2)));
    assertEquals(
        "its layer head does not fit what input gives, 4×6×6; give the operators between them, too",
        refusal(graph));
    LayerGraph convolution =
        LayerGraph.chain(
            "net",
            List.of(
                layer("input", new Operator.Input(), 4, 6, 6),
                layer("relu", new Operator.Elementwise("relu"), 4, 3, 3)));
    assertEquals(
        "its layer relu does not fit what input gives, 4×6×6; give the operators between them, too",
        refusal(convolution));
  }

  @Test
  void twoResultsAreRefused() {
    LayerGraph graph =
        new LayerGraph(
            "net",
            List.of(
                layer("input", new Operator.Input(), 8),
                layer("one", new Operator.Linear(8, 2, true), 2),
                layer("other", new Operator.Linear(8, 2, true), 2)),
            List.of(new LayerGraph.Edge(0, 1), new LayerGraph.Edge(0, 2)));
    assertEquals(
        "no layer reads what one and other give; give a network with one result", refusal(graph));
  }
}

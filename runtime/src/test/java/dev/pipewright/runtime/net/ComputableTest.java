package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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

  private static String refusal(Operator.ShapedBlock block) {
    return refusal(
        LayerGraph.chain(
            "net",
            List.of(
                layer("embedding", new Operator.Embedding(9, 4), 5, 4),
                layer("block-1", block, 5, 4),
                layer("head", new Operator.Linear(4, 9, false), 5, 9))));
  }

  private static Operator.ShapedBlock shaped(LayerShape shape, Positions positions) {
    return new Operator.ShapedBlock(shape, 4, 5, true, positions);
  }

  @Test
  void blocksOfShapesThatNoModuleComputesAreNamed() {
    ShapedBlocks.all(4, 5).forEach(block -> assertEquals("none", refusal(block)));
    Positions rotary = new Positions.Rotary();
    LayerShape plain = ShapedBlocks.llama(4, 5).shape();
    var latent = new AttentionShape.Latent(2, OptionalInt.empty(), 2, 2, 2, 2, false, true);
    assertEquals(
        "its layer block-1 has multi-head latent attention, which the runtime does not compute; take"
            + " a decoder with grouped-query attention to whole sequences",
        refusal(shaped(LayerShape.of(latent, plain.feedForward(), plain.norm()), rotary)));
    assertEquals("none", refusal(shaped(plain.reading(new AttentionSpan.Window(5)), rotary)));
    assertTrue(
        refusal(shaped(plain.reading(new AttentionSpan.Window(4)), rotary))
            .contains("has a sliding window or chunks that are shorter than its sequences, "));
    assertTrue(
        refusal(shaped(plain, new Positions.Fixed()))
            .contains("has positions that are neither rotary nor learned, "));
    GroupedQuery sinks = new GroupedQuery(4, 2, 2, true, true, QueryKeyNorm.NONE, true);
    assertTrue(
        refusal(shaped(LayerShape.of(sinks, plain.feedForward(), plain.norm()), rotary))
            .contains("has attention sinks, "));
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

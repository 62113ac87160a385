package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BlueprintTest {
  @Test
  void branchesAreJoinedAlongTheChannels() {
    Blueprint network = Blueprint.of(FeatureMap.square(3, 9));
    int one = network.convolution("one", 0, 4, Window.square(1));
    int three = network.convolution("three", 0, 5, Window.square(3).padded());
    network.concatenation("join", one, three, 0);
    LayerGraph graph = network.graph("branches");
    assertEquals(Optional.of(Shape.of(12, 9, 9)), graph.layer(3).output());
    assertEquals(
        List.of(new Edge(0, 1), new Edge(0, 2), new Edge(1, 3), new Edge(2, 3), new Edge(0, 3)),
        graph.edges());
  }

  @Test
  void onlyTheLayerBehindTheInputHasNoInputGradient() {
    Blueprint network = Blueprint.of(FeatureMap.cube(2, 6));
    int first = network.convolution("first", 0, 4, Window.cube(3));
    network.convolution("second", first, 4, Window.cube(3));
    LayerGraph graph = network.graph("two");
    double flop = 2.0 * 27 * 2 * 4 * 64;
    assertEquals(flop, graph.layer(1).work().forward());
    assertEquals(flop, graph.layer(1).work().weightGradient());
    assertEquals(0, graph.layer(1).work().inputGradient());
    assertEquals(2.0 * 27 * 4 * 4 * 8, graph.layer(2).work().inputGradient());
  }

  @Test
  void aNormalizedConvolutionIsTheSumOfItsThreeLayers() {
    FeatureMap in = FeatureMap.square(6, 10);
    Window window = Window.square(3).every(2);
    FeatureMap out = in.through(window, 8);
    Layer whole = in.normalizedConvolution("unit", 8, window, false);
    List<Layer> parts =
        List.of(
            in.convolution("conv", 8, window, false), out.normalization("bn"), out.relu("relu"));
    assertEquals(parts.stream().mapToLong(Layer::parameters).sum(), whole.parameters());
    assertEquals(parts.stream().mapToLong(Layer::keptElements).sum(), whole.keptElements());
    assertEquals(
        parts.stream().mapToDouble(part -> part.work().forward()).sum(), whole.work().forward());
    Work behindInput = in.normalizedConvolution("unit", 8, window, true).work();
    assertEquals(0, behindInput.inputGradient());
    double throughBoth = (2 + 8 + 1) * out.elements(); // normalisation's two, the ReLU's
    assertEquals(2.0 * 9 * 6 * out.elements() + throughBoth, behindInput.weightGradient());
    assertEquals(parts.get(0).operator(), whole.operator());
    assertEquals(parts.get(2).output(), whole.output());
  }

  @Test
  void mapsThatDoNotFitTogetherAreNamed() {
    Blueprint network = Blueprint.of(FeatureMap.square(3, 9));
    int half = network.maxPooling("half", 0, Window.square(3).every(3));
    var sum = assertThrows(IllegalArgumentException.class, () -> network.sum("add", half, 0));
    assertEquals(
        "only equal maps can be added: layer=add, map=3×3×3, shortcut=3×9×9", sum.getMessage());
    var join =
        assertThrows(IllegalArgumentException.class, () -> network.concatenation("join", 0, half));
    assertEquals(
        "only maps of equal extents can be joined: layer=join, map=3×9×9, other=3×3×3",
        join.getMessage());
  }
}

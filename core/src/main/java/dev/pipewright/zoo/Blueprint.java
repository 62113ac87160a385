package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Shape;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * A convolutional network while it is drawn: layers, each with the numbers of the layers that it
 * reads. Every method adds a layer and returns its number; the shapes follow from the input's.
 */
final class Blueprint {
  private final List<Layer> layers = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  /** The network's input, layer 0. */
  static Blueprint of(FeatureMap input) {
    Blueprint blueprint = new Blueprint();
    blueprint.layers.add(input.input());
    return blueprint;
  }

  private Blueprint() {}

  /** What layer {@code number} hands on. */
  FeatureMap map(int number) {
    Shape shape = layers.get(number).output().orElseThrow();
    List<Integer> extents = shape.extents();
    return new FeatureMap(shape.extent(0), extents.subList(1, extents.size()));
  }

  int convolution(String name, int from, int channels, Window window) {
    return add(map(from).convolution(name, channels, window, from == 0), from);
  }

  int convolutionWithRelu(String name, int from, int channels, Window window) {
    return add(map(from).convolutionWithRelu(name, channels, window, from == 0), from);
  }

  int convolutionWithBias(String name, int from, int channels, Window window) {
    return add(map(from).convolutionWithBias(name, channels, window, from == 0), from);
  }

  int normalizedConvolution(String name, int from, int channels, Window window) {
    return add(map(from).normalizedConvolution(name, channels, window, from == 0), from);
  }

  int normalization(String name, int from) {
    return add(map(from).normalization(name), from);
  }

  int relu(String name, int from) {
    return add(map(from).relu(name), from);
  }

  int maxPooling(String name, int from, Window window) {
    return add(map(from).maxPooling(name, window), from);
  }

  int averagePooling(String name, int from, Window window) {
    return add(map(from).averagePooling(name, window), from);
  }

  int globalPooling(String name, int from) {
    return add(map(from).globalPooling(name), from);
  }

  int fullyConnected(String name, int from, int features) {
    return add(map(from).fullyConnected(name, features, from == 0), from);
  }

  int fullyConnectedWithRelu(String name, int from, int features) {
    return add(map(from).fullyConnectedWithRelu(name, features, from == 0), from);
  }

  int sum(String name, int from, int shortcut) {
    Check.that(
        map(from).equals(map(shortcut)),
        "only equal maps can be added: layer=%s, map=%s, shortcut=%s",
        name,
        map(from).shape(),
        map(shortcut).shape());
    return add(map(from).sum(name), from, shortcut);
  }

  int concatenation(String name, int... from) {
    FeatureMap first = map(from[0]);
    int channels = 0;
    for (int part : from) {
      Check.that(
          map(part).extents().equals(first.extents()),
          "only maps of equal extents can be joined: layer=%s, map=%s, other=%s",
          name,
          first.shape(),
          map(part).shape());
      channels += map(part).channels();
    }
    return add(new FeatureMap(channels, first.extents()).concatenation(name), from);
  }

  /** A layer of another kind. */
  int add(Layer layer, int... readsFrom) {
    int number = layers.size();
    layers.add(layer);
    for (int from : readsFrom) {
      edges.add(new Edge(from, number));
    }
    return number;
  }

  LayerGraph graph(String name) {
    return new LayerGraph(name, layers, edges);
  }
}

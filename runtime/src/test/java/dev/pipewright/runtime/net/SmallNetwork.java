package dev.pipewright.runtime.net;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Networks of the zoo in sizes that a test can train, and samples for them. */
final class SmallNetwork {
  static final String[] NAMES = {
    "mlp:layers=3,hidden=12,in=9,classes=4",
    "cnn-64-128-256:size=8,classes=3",
    "resnet-18:size=32,classes=5",
    "cosmoflow:size=16,outputs=4",
    "vit:layers=3,hidden=24,heads=3,patch=4,size=12,classes=5",
    "bert:layers=3,hidden=16,heads=2,sequence=9,vocabulary=30",
    "gpt:layers=3,hidden=16,heads=2,sequence=9,vocabulary=30",
    "gnmt:layers=6,hidden=12,steps=7,vocabulary=20",
    "gpt-8x256",
    "llama:layers=2,hidden=16,heads=4,kv-heads=2,ffn=20,sequence=9,vocabulary=30",
    "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=12,sequence=9,vocabulary=30,experts=4,chosen=2"
  };

  private SmallNetwork() {}

  static LayerGraph graph(String name) {
    return Models.find(name).orElseThrow().graph();
  }

  static Network network(String name, long seed) {
    return new Network(Chain.of(graph(name)), seed);
  }

  /** A tensor for each layer that reads no other. */
  static List<Tensor> samples(LayerGraph graph, int samples, long seed) {
    List<Tensor> data = new ArrayList<>();
    for (int layer : graph.topological()) {
      if (graph.predecessors(layer).length == 0) {
        data.add(source(graph, layer, samples, seed + layer));
      }
    }
    return data;
  }

  private static Tensor source(LayerGraph graph, int layer, int samples, long seed) {
    Shape shape = graph.layer(layer).output().orElseThrow();
    return switch (graph.layer(layer).operator()) {
      case Operator.Tokens(int vocabulary) -> words(vocabulary, seed, samples, shape.extent(0));
      case Operator.Embedding(int vocabulary, int features) ->
          words(vocabulary, seed, samples, shape.extent(0));
      default -> {
        List<Integer> extents = new ArrayList<>(shape.extents());
        extents.add(0, samples);
        try (RandomSource random = new RandomSource(seed)) {
          yield random.normal(1, extents.stream().mapToLong(Integer::longValue).toArray());
        }
      }
    };
  }

  private static Tensor words(int vocabulary, long seed, int samples, int steps) {
    long[] words =
        new SplittableRandom(seed).longs((long) samples * steps, 0, vocabulary).toArray();
    return Tensor.ofWhole(words, samples, steps);
  }

  /** What the network should answer. */
  static Tensor target(LayerGraph graph, int samples, long seed) {
    Shape shape = graph.layer(graph.topological()[graph.size() - 1]).output().orElseThrow();
    int classes = shape.extent(shape.extents().size() - 1);
    int rows = (int) (shape.elements() / classes);
    if (LossFunction.of(graph) == LossFunction.SQUARED_ERROR) {
      try (RandomSource random = new RandomSource(seed)) {
        return random.normal(1, samples, classes);
      }
    }
    Tensor words = words(classes, seed, samples, rows);
    return rows == 1 ? words.flattened(0) : words;
  }
}

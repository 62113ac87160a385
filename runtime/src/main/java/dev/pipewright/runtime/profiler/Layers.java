package dev.pipewright.runtime.profiler;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The layers of a network, each a part of its own. */
final class Layers {
  private final LayerGraph graph;
  private final List<Part> parts; // by layer
  private final int last;

  Layers(LayerGraph graph, long seed) {
    this.graph = graph;
    Chain chain = Chain.of(graph);
    Network network = new Network(chain, seed);
    this.parts = IntStream.range(0, graph.size()).mapToObj(network::layer).toList();
    int[] ends = chain.crossing(chain.size() - 1);
    this.last = ends[ends.length - 1];
  }

  int size() {
    return parts.size();
  }

  /** Each layer after those that it reads. */
  int[] order() {
    return graph.topological();
  }

  Part part(int layer) {
    return parts.get(layer);
  }

  /** The layers whose outputs a layer reads, each once, in the order of its inputs. */
  int[] read(int layer) {
    return Arrays.stream(graph.predecessors(layer)).distinct().toArray();
  }

  /** The layer whose output is judged. */
  int last() {
    return last;
  }

  List<Parameter> parameters(int layer) {
    return parts.get(layer).parameters();
  }

  List<Parameter> averages(int layer) {
    return parts.get(layer).averages();
  }
}

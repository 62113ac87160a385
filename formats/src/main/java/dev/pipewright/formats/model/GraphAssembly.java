package dev.pipewright.formats.model;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Puts a file's layers and edges together and says what is wrong with them as a whole: cycles,
 * separate parts, more branches than can be planned.
 *
 * @param names what the file calls each layer
 * @param layerLines the line of each layer
 * @param edgeLines the line of each edge
 */
public record GraphAssembly(
    Path file,
    List<Layer> layers,
    List<String> names,
    List<Integer> layerLines,
    List<LayerGraph.Edge> edges,
    List<Integer> edgeLines) {
  /** More layers than this are not planned one by one. */
  public static final int MOST_LAYERS = 100_000;

  public static final int MOST_EDGES = 1_000_000;

  private static final int LONGEST_PATH_SHOWN = 6;

  public LayerGraph graph(String model) {
    LayerGraph graph;
    try {
      graph = new LayerGraph(model, layers, edges);
    } catch (LayerGraph.CycleException e) {
      throw cycle(e.layer());
    }
    checkConnected(graph);
    try {
      Chain.of(graph);
    } catch (IllegalArgumentException e) {
      throw BadInputException.at(file, 1, String.valueOf(e.getMessage()));
    }
    return graph;
  }

  public static String tooManyLayers() {
    return "the model has more than 100,000 layers; merge layers into blocks";
  }

  public static String tooManyEdges() {
    return "the model has more than 1,000,000 edges; merge layers into blocks";
  }

  /** Shows a shortest cycle through {@code layer}, ending with the edge that was written last. */
  private BadInputException cycle(int layer) {
    List<Integer> path = shortestCycle(layer);
    int last = 0;
    for (int i = 1; i < path.size(); i++) {
      last = edgeLines.get(path.get(i)) > edgeLines.get(path.get(last)) ? i : last;
    }
    int line = edgeLines.get(path.get(last));
    Collections.rotate(path, path.size() - 1 - last);
    List<String> shown = new ArrayList<>();
    path.forEach(edge -> shown.add(names.get(edges.get(edge).from())));
    String first = shown.get(0);
    if (shown.size() > LONGEST_PATH_SHOWN) {
      shown.subList(LONGEST_PATH_SHOWN / 2, shown.size() - LONGEST_PATH_SHOWN / 2).clear();
      shown.add(LONGEST_PATH_SHOWN / 2, "…");
    }
    shown.add(first);
    return BadInputException.at(
        file,
        line,
        "the edges form a cycle "
            + String.join(" → ", shown)
            + "; remove the edge that leads back");
  }

  /** The edges of a shortest way from {@code layer} to itself, in order. */
  private List<Integer> shortestCycle(int layer) {
    List<List<Integer>> leaving = new ArrayList<>(Collections.nCopies(layers.size(), List.of()));
    for (int i = 0; i < edges.size(); i++) {
      int from = edges.get(i).from();
      if (leaving.get(from).isEmpty()) {
        leaving.set(from, new ArrayList<>());
      }
      leaving.get(from).add(i);
    }
    int[] reachedBy = new int[layers.size()];
    Arrays.fill(reachedBy, -1);
    ArrayDeque<Integer> waiting = new ArrayDeque<>(List.of(layer));
    while (reachedBy[layer] < 0) {
      for (int edge : leaving.get(waiting.remove())) {
        int to = edges.get(edge).to();
        if (reachedBy[to] < 0) {
          reachedBy[to] = edge;
          waiting.add(to);
        }
      }
    }
    List<Integer> path = new ArrayList<>();
    int at = layer;
    do {
      path.add(reachedBy[at]);
      at = edges.get(reachedBy[at]).from();
    } while (at != layer);
    Collections.reverse(path);
    return path;
  }

  private void checkConnected(LayerGraph graph) {
    int[] part = new int[graph.size()];
    List<Integer> sizes = new ArrayList<>(List.of(0)); // parts count from 1
    for (int layer = 0; layer < part.length; layer++) {
      if (part[layer] == 0) {
        sizes.add(flood(graph, part, layer, sizes.size()));
      }
    }
    if (sizes.size() == 2) {
      return;
    }
    int main = sizes.indexOf(Collections.max(sizes));
    int stray = 0;
    while (part[stray] == main) {
      stray++;
    }
    throw BadInputException.at(
        file,
        layerLines.get(stray),
        names.get(stray)
            + " is not connected to the rest of the network; add the missing edges,"
            + " the file may be cut off");
  }

  private static int flood(LayerGraph graph, int[] part, int start, int number) {
    ArrayDeque<Integer> waiting = new ArrayDeque<>(List.of(start));
    part[start] = number;
    int size = 0;
    while (!waiting.isEmpty()) {
      int layer = waiting.remove();
      size++;
      for (int[] neighbours : new int[][] {graph.successors(layer), graph.predecessors(layer)}) {
        for (int neighbour : neighbours) {
          if (part[neighbour] == 0) {
            part[neighbour] = number;
            waiting.add(neighbour);
          }
        }
      }
    }
    return size;
  }
}

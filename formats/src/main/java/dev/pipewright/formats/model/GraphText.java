package dev.pipewright.formats.model;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Check;
import dev.pipewright.units.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the graph text that PipeDream's profiler writes and DAPPLE's planner reads: one line per
 * node, then one line per edge, mixed as they come.
 *
 * <pre>
 * node1 -- Conv2d -- forward_compute_time=1.5, backward_compute_time=2.5,
 *     activation_size=[1024; 512], parameter_size=256            (on one line)
 * node2 -- ReLU -- forward_compute_time=0.1, … -- stage_id=0     (the stage is ignored)
 * TAB node1 -- node2
 * </pre>
 *
 * <p>Times are milliseconds and activations bytes for a mini-batch whose size the file does not
 * say; parameters are bytes; the entries of a list are added up. As in the tools that the format
 * comes from, sources called {@code Input…} and sinks called {@code __getitem__…} are left out. A
 * repeated edge counts once. The file knows one activation size per layer, so a layer is taken to
 * keep its output and nothing else for the backward pass, and parameters to be 4 bytes each.
 */
public final class GraphText {
  private static final int BYTES_PER_NUMBER = 4;

  private final Path file;
  private final Map<String, Integer> index = new HashMap<>();
  private final List<NodeLine> nodes = new ArrayList<>();
  private final Map<LayerGraph.Edge, Integer> edges = new LinkedHashMap<>(); // to their line

  private GraphText(Path file) {
    this.file = file;
  }

  /**
   * Throws {@link BadInputException} when the file is not a graph text or its graph cannot be
   * planned.
   *
   * @param profileBatch samples of the mini-batch that times and activations are for
   */
  public static ModelFile read(Path file, int profileBatch) {
    Check.that(profileBatch >= 1, "a batch has samples: profile_batch=%d", profileBatch);
    GraphText text = new GraphText(file);
    text.readLines();
    return text.model(profileBatch);
  }

  private void readLines() {
    try (TextLines lines = TextLines.open(file, "a graph text file")) {
      for (String line = lines.next(); line != null; line = lines.next()) {
        if (line.isBlank()) {
          continue;
        }
        if (Character.isWhitespace(line.charAt(0))) {
          addEdge(lines.number(), line.strip());
        } else {
          addNode(lines.number(), line);
        }
      }
      if (nodes.isEmpty()) {
        throw BadInputException.at(
            file, 1, "the file is empty; a graph text file declares nodes and edges");
      }
    }
  }

  private void addNode(int line, String text) {
    String[] ends = text.strip().split(" -- ", -1);
    if (ends.length == 2 && index.containsKey(ends[0]) && index.containsKey(ends[1])) {
      throw BadInputException.at(
          file, line, "the edge \"" + text.strip() + "\" begins without a TAB; put one before it");
    }
    NodeLine node = NodeLine.parse(file, line, text);
    Integer first = index.putIfAbsent(node.id(), nodes.size());
    if (first != null) {
      throw BadInputException.at(
          file,
          line,
          node.id()
              + " is declared a second time, first in line "
              + nodes.get(first).line()
              + "; give each node a number of its own");
    }
    nodes.add(node);
    if (nodes.size() > GraphAssembly.MOST_LAYERS) {
      throw BadInputException.at(file, line, GraphAssembly.tooManyLayers());
    }
  }

  private void addEdge(int line, String text) {
    String[] ends = text.split(" -- ", -1);
    if (ends.length != 2) {
      throw BadInputException.at(
          file, line, "an edge is cut off or too long; an edge reads \"TAB node1 -- node2\"");
    }
    LayerGraph.Edge edge = new LayerGraph.Edge(end(line, ends[0]), end(line, ends[1]));
    if (edge.from() == edge.to()) {
      throw BadInputException.at(
          file, line, ends[0] + " has an edge to itself; a network has no cycles, remove the edge");
    }
    edges.putIfAbsent(edge, line);
    if (edges.size() > GraphAssembly.MOST_EDGES) {
      throw BadInputException.at(file, line, GraphAssembly.tooManyEdges());
    }
  }

  private int end(int line, String id) {
    Integer node = index.get(id);
    if (node == null) {
      String name = id.length() <= 60 ? id : id.substring(0, 57) + "...";
      throw BadInputException.at(
          file,
          line,
          "the edge names "
              + name
              + ", which no line above declares; declare a node before its edges");
    }
    return node;
  }

  private ModelFile model(int batch) {
    boolean[] dropped = new boolean[nodes.size()];
    drop(dropped, "Input", true);
    drop(dropped, "__getitem__", false);
    List<NodeLine> kept = new ArrayList<>();
    int[] layerOf = new int[nodes.size()];
    for (int i = 0; i < dropped.length; i++) {
      layerOf[i] = kept.size();
      if (!dropped[i]) {
        kept.add(nodes.get(i));
      }
    }
    if (kept.isEmpty()) {
      throw BadInputException.at(
          file, 1, "no layer is left without Input sources and __getitem__ sinks; add layers");
    }
    return new ModelFile(
        graph(kept, batch, dropped, layerOf), profile(kept, batch), Optional.empty());
  }

  /**
   * Marks the nodes whose description starts so and that nothing leads to, or that lead nowhere.
   */
  private void drop(boolean[] dropped, String start, boolean sources) {
    boolean[] inner = new boolean[nodes.size()];
    for (LayerGraph.Edge edge : edges.keySet()) {
      if (!dropped[edge.from()] && !dropped[edge.to()]) {
        inner[sources ? edge.to() : edge.from()] = true;
      }
    }
    for (int i = 0; i < inner.length; i++) {
      dropped[i] |= !inner[i] && nodes.get(i).description().startsWith(start);
    }
  }

  private LayerGraph graph(List<NodeLine> kept, int batch, boolean[] dropped, int[] layerOf) {
    List<LayerGraph.Edge> left = new ArrayList<>();
    List<Integer> lines = new ArrayList<>();
    edges.forEach((edge, line) -> {
      if (!dropped[edge.from()] && !dropped[edge.to()]) {
        left.add(new LayerGraph.Edge(layerOf[edge.from()], layerOf[edge.to()]));
        lines.add(line);
      }
    });
    return new GraphAssembly(
            file,
            layers(kept, batch),
            kept.stream().map(NodeLine::id).toList(),
            kept.stream().map(NodeLine::line).toList(),
            left,
            lines)
        .graph(modelName());
  }

  private String modelName() {
    Path name = file.getFileName();
    return name == null ? "model" : name.toString().replaceFirst("(\\.graph)?\\.txt$", "");
  }

  private static List<Layer> layers(List<NodeLine> kept, int batch) {
    List<String> names = names(kept);
    List<Layer> layers = new ArrayList<>(kept.size());
    for (int i = 0; i < kept.size(); i++) {
      NodeLine node = kept.get(i);
      long elements = Math.round(node.activationBytes() / batch / BYTES_PER_NUMBER);
      layers.add(
          new Layer(
              names.get(i),
              new Operator.Recorded(node.description()),
              Optional.empty(),
              Math.round(node.parameterBytes() / BYTES_PER_NUMBER),
              elements,
              elements,
              Work.NONE));
    }
    return layers;
  }

  /**
   * The description where it is the layer's alone; with the node's number where several share it.
   */
  private static List<String> names(List<NodeLine> kept) {
    Map<String, Integer> count = new HashMap<>();
    kept.forEach(node -> count.merge(node.description(), 1, Integer::sum));
    List<String> numbered =
        kept.stream().map(node -> node.id() + " " + node.description()).toList();
    if (numbered.stream().anyMatch(count::containsKey)) {
      return numbered; // a description that looks like a numbered name
    }
    List<String> names = new ArrayList<>(numbered);
    for (int i = 0; i < names.size(); i++) {
      String description = kept.get(i).description();
      if (!description.isBlank() && count.getOrDefault(description, 0) == 1) {
        names.set(i, description);
      }
    }
    return names;
  }

  private Profile profile(List<NodeLine> kept, int batch) {
    List<LayerSizes> sizes = new ArrayList<>(kept.size());
    List<LayerTimes> times = new ArrayList<>(kept.size());
    for (NodeLine node : kept) {
      double output = node.activationBytes() / batch;
      sizes.add(new LayerSizes(output, output, node.parameterBytes()));
      times.add(
          new LayerTimes(
              node.forwardMilliseconds() / 1000,
              node.backwardMilliseconds() / 1000,
              Double.NaN,
              0));
    }
    Path name = file.getFileName();
    Provenance provenance =
        new Provenance(String.valueOf(name), "on a device that the file does not name", "", true);
    return new Profile(provenance, Precision.FP32, sizes, List.of(batch), List.of(times));
  }
}

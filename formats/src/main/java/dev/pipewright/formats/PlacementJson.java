package dev.pipewright.formats;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.file.ShortInput;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.JsonFile;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.CircleException;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.units.Range;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the workloads of Microsoft's dnn-partitioning: an operator graph with the devices it is
 * for.
 *
 * <pre>
 * {"maxSizePerFPGA": 17185374208.0, "maxFPGAs": 6, "maxCPUs": 1,
 *  "nodes": [{"id": 1, "name": "embedding", "supportedOnFpga": 1, "cpuLatency": 6.96, "fpgaLatency": 0.696,
 *             "isBackwardNode": 0, "colorClass": 1, "size": 131325952.0}],
 *  "edges": [{"sourceId": 1, "destId": 2, "cost": 0.00195}]}
 * </pre>
 *
 * <p>Source: J. Tarnawski et al., <i>Efficient Algorithms for Device Placement of DNN Graph
 * Operators</i>, NeurIPS 2020, and the description that comes with its authors' program. "FPGA"
 * stands for any accelerator. {@code colorClass}, {@code size} and {@code name} may be missing;
 * other keys are passed over. All edges of a node cost the same, since its output is sent once.
 */
public final class PlacementJson {
  private static final int MOST_NODES = 10_000; // each knows which others it reaches
  private static final double SAME_COST = 1e-6; // as the authors' program

  private final Map<Long, Integer> places = new HashMap<>();
  private final List<Fields> nodes = new ArrayList<>();
  private final List<Node> edgeNodes = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();
  private double[] costs = new double[0];

  private PlacementJson() {}

  /** Whether a file is such a workload, judged by its keys. */
  public static boolean isWorkload(Path file) {
    Set<String> keys = new HashSet<>();
    try (InputStream in = new ShortInput(InputFile.open(file), file, JsonFile.MOST_BYTES);
        JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), in)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        keys.add(parser.currentName());
        parser.nextToken();
        parser.skipChildren();
      }
    } catch (JacksonException e) {
      return keys.contains("maxFPGAs"); // its reader says what is wrong
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
    return keys.contains("maxFPGAs") || (keys.contains("nodes") && keys.contains("edges"));
  }

  /** Throws {@link BadInputException} when the file is no such workload. */
  public static OperatorGraph read(Path file) {
    return new PlacementJson().graph(file);
  }

  private OperatorGraph graph(Path file) {
    Node root = Tree.json(file);
    Fields fields = root.object();
    Node accelerators = fields.required("maxFPGAs");
    Node processors = fields.required("maxCPUs");
    double bytes = fields.required("maxSizePerFPGA").amount(Range.COST);
    int most = OperatorGraph.MOST_DEVICES;
    int devices = devices(accelerators, most) + devices(processors, most);
    if (devices < 1 || devices > most) {
      throw accelerators.wrong(
          "maxFPGAs and maxCPUs make %d devices; give 1 to %d together".formatted(devices, most));
    }
    ids(fields.required("nodes"));
    edges(fields.required("edges"));
    List<Operator> operators = new ArrayList<>();
    for (int place = 0; place < nodes.size(); place++) {
      operators.add(operator(nodes.get(place), costs[place]));
    }
    if (operators.stream().allMatch(o -> o.processorTime() == 0 && o.acceleratorTime() == 0)) {
      throw fields
          .required("nodes")
          .wrong(
              "no node takes any time, so nothing can be placed; give cpuLatency and fpgaLatency as measured");
    }
    checkPasses(operators);
    String name = String.valueOf(file.getFileName()).replaceFirst("\\.json$", "");
    Devices on = new Devices(accelerators.count(0), processors.count(0), bytes);
    try {
      return new OperatorGraph(name, on, operators, edges);
    } catch (CircleException e) {
      Edge edge = edges.get(e.edge());
      throw edgeNodes
          .get(e.edge())
          .wrong(
              "%s from node %d to node %d closes a circle; a network has none"
                  .formatted(
                      edgeNodes.get(e.edge()).place(),
                      operators.get(edge.from()).id(),
                      operators.get(edge.to()).id()));
    }
  }

  private static int devices(Node node, int most) {
    return Math.min(node.count(0), most + 1);
  }

  private void ids(Node list) {
    for (Node node : list.list()) {
      Fields fields = node.object();
      Node id = fields.required("id");
      Integer first = places.putIfAbsent(id.id(), nodes.size());
      if (first != null) {
        throw id.wrong(
            "%s is %d, the id of the node in line %d as well; give each node an id of its own"
                .formatted(id.place(), id.id(), nodes.get(first).node().line()));
      }
      nodes.add(fields);
    }
    if (nodes.isEmpty()) {
      throw list.wrong("nodes is empty; a network has at least one node");
    }
    if (nodes.size() > MOST_NODES) {
      throw list.wrong(
          "%d nodes are more than can be placed; give at most %d"
              .formatted(nodes.size(), MOST_NODES));
    }
    costs = new double[nodes.size()];
  }

  private void edges(Node list) {
    Node[] priced = new Node[nodes.size()];
    for (Node node : list.list()) {
      Fields fields = node.object();
      int from = place(fields.required("sourceId"));
      int to = place(fields.required("destId"));
      Node cost = fields.required("cost");
      if (priced[from] == null) {
        priced[from] = cost;
        costs[from] = cost.amount(Range.COST);
      } else if (Math.abs(costs[from] - cost.amount(Range.COST)) > SAME_COST) {
        throw cost.wrong(
            "%s is %s, but node %d's edge in line %d costs %s; a node's output is sent once, so give all its edges one cost"
                .formatted(
                    cost.place(),
                    cost.amount(Range.COST),
                    nodes.get(from).required("id").id(),
                    priced[from].line(),
                    costs[from]));
      }
      edgeNodes.add(node);
      edges.add(new Edge(from, to));
    }
  }

  private int place(Node end) {
    long id = end.id();
    Integer place = places.get(id);
    if (place == null) {
      throw end.wrong(
          "%s is %d, but no node has that id; name a node or add one".formatted(end.place(), id));
    }
    return place;
  }

  /** The time on an accelerator is not looked at where none can run the node. */
  private static Operator operator(Fields fields, double cost) {
    boolean supported = flag(fields.required("supportedOnFpga"));
    long id = fields.required("id").id();
    Optional<Node> colour = fields.optional("colorClass");
    return new Operator(
        id,
        fields.optional("name").map(Node::text).orElse("node " + id),
        supported,
        fields.required("cpuLatency").amount(Range.COST),
        supported ? fields.required("fpgaLatency").amount(Range.COST) : 0,
        cost,
        fields.optional("size").map(size -> size.amount(Range.COST)).orElse(0.0),
        flag(fields.required("isBackwardNode")),
        colour.isPresent() ? OptionalLong.of(colour.get().id()) : OptionalLong.empty());
  }

  /** A truth value, or 0 or 1. */
  private static boolean flag(Node node) {
    if (!node.is(Node.Type.NUMBER)) {
      return node.flag();
    }
    double number = node.amount(Range.COST);
    if (number != 0 && number != 1) {
      throw node.wrong(
          "%s is the number %s; expected true, false, 0 or 1".formatted(node.place(), number));
    }
    return number == 1;
  }

  private void checkPasses(List<Operator> operators) {
    for (int i = 0; i < edges.size(); i++) {
      Operator from = operators.get(edges.get(i).from());
      Operator to = operators.get(edges.get(i).to());
      if (from.backward() && !to.backward()) {
        throw edgeNodes
            .get(i)
            .wrong(
                "%s leads from the backward pass (node %d) to the forward pass (node %d); turn it round or correct isBackwardNode"
                    .formatted(edgeNodes.get(i).place(), from.id(), to.id()));
      }
    }
  }
}

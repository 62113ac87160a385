package dev.pipewright.formats.profile;

import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.file.PrecisionWords;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.model.GraphAssembly;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The reading half of {@link ProfileJson}. */
final class ProfileReader {
  private static final List<String> KEYS =
      List.of(
          "format",
          "version",
          "model",
          "provenance",
          "precision",
          "training",
          "layers",
          "edges",
          "batches");
  private static final List<String> LAYER_KEYS =
      List.of(
          "name",
          "operator",
          "steps",
          "output_shape",
          "parameters",
          "output_elements",
          "kept_elements",
          "work",
          "output_bytes",
          "kept_bytes",
          "parameter_bytes");
  private static final List<String> WORKING_KEYS =
      List.of("working_bytes", "forward_working_bytes", "backward_working_bytes");
  private static final List<String> BATCH_KEYS =
      List.of(
          "samples",
          "forward_s",
          "backward_s",
          "input_gradient_s",
          "weight_gradient_s",
          "update_s",
          "working_bytes",
          "forward_working_bytes",
          "backward_working_bytes",
          "split_kept_bytes",
          "deferred_bytes");
  private static final long MOST_ELEMENTS = (long) Range.ELEMENTS.most();
  private static final Map<String, Optimizer> OPTIMIZERS = EnumWords.of(Optimizer.values());

  private final Path file;

  private ProfileReader(Path file) {
    this.file = file;
  }

  static ModelFile read(Path file) {
    return new ProfileReader(file).model(Tree.json(file).object(KEYS));
  }

  private ModelFile model(Fields fields) {
    fields.version(ProfileJson.FORMAT, ProfileJson.VERSION);
    List<Node> nodes = fields.required("layers").list();
    if (nodes.isEmpty()) {
      throw fields.required("layers").wrong("layers is empty; a network needs at least one layer");
    }
    if (nodes.size() > GraphAssembly.MOST_LAYERS) {
      throw fields.required("layers").wrong(GraphAssembly.tooManyLayers());
    }
    List<Layer> layers = new ArrayList<>();
    List<LayerSizes> sizes = new ArrayList<>();
    Map<String, Integer> index = new HashMap<>();
    for (Node node : nodes) {
      Fields layer = node.object(LAYER_KEYS);
      layers.add(layer(node, layer));
      sizes.add(sizes(layer));
      String name = layers.get(layers.size() - 1).name();
      if (index.putIfAbsent(name, index.size()) != null) {
        throw node.wrong("two layers are called \"" + name + "\"; give each a name of its own");
      }
    }
    LayerGraph graph = graph(fields, layers, nodes, index);
    return new ModelFile(graph, profile(fields, sizes), training(fields));
  }

  private static Layer layer(Node node, Fields fields) {
    Optional<Shape> shape =
        fields
            .optional("output_shape")
            .map(s -> s.checked(() -> new Shape(fields.counts("output_shape", 1))));
    String name = fields.required("name").text();
    long parameters = fields.required("parameters").whole(0, MOST_ELEMENTS);
    long output = fields.required("output_elements").whole(0, MOST_ELEMENTS);
    long kept = fields.required("kept_elements").whole(0, MOST_ELEMENTS);
    Work work = fields.optional("work").map(ProfileReader::work).orElse(Work.NONE);
    var operator = OperatorJson.read(fields.required("operator"));
    List<Operator> steps =
        fields
            .optional("steps")
            .map(list -> list.list().stream().map(OperatorJson::read).toList())
            .orElse(List.of(operator));
    return node.checked(
        () -> new Layer(name, operator, steps, shape, parameters, output, kept, work));
  }

  private static Work work(Node node) {
    Fields fields =
        node.object(
            List.of(
                "forward_flop", "input_gradient_flop", "weight_gradient_flop", "forward_elements"));
    return new Work(
        fields.required("forward_flop").amount(Range.FLOP),
        fields.required("input_gradient_flop").amount(Range.FLOP),
        fields.required("weight_gradient_flop").amount(Range.FLOP),
        fields.required("forward_elements").amount(Range.FLOP));
  }

  private static LayerSizes sizes(Fields fields) {
    return new LayerSizes(
        fields.required("output_bytes").amount(Range.BYTES),
        fields.required("kept_bytes").amount(Range.BYTES),
        fields.required("parameter_bytes").amount(Range.BYTES));
  }

  private LayerGraph graph(
      Fields fields, List<Layer> layers, List<Node> nodes, Map<String, Integer> index) {
    List<Node> pairs = fields.required("edges").list();
    if (pairs.size() > GraphAssembly.MOST_EDGES) {
      throw fields.required("edges").wrong(GraphAssembly.tooManyEdges());
    }
    Set<LayerGraph.Edge> edges = new LinkedHashSet<>();
    for (Node pair : pairs) {
      LayerGraph.Edge edge = edge(pair, index);
      if (!edges.add(edge)) {
        throw pair.wrong(pair.place() + " repeats an edge; keep one");
      }
    }
    return new GraphAssembly(
            file,
            layers,
            layers.stream().map(Layer::name).toList(),
            nodes.stream().map(Node::line).toList(),
            List.copyOf(edges),
            pairs.stream().map(Node::line).toList())
        .graph(fields.required("model").text());
  }

  private static LayerGraph.Edge edge(Node pair, Map<String, Integer> index) {
    List<Node> ends = pair.list();
    if (ends.size() != 2) {
      throw pair.wrong(
          pair.place() + " names " + ends.size() + " layers; an edge reads [\"from\", \"to\"]");
    }
    LayerGraph.Edge edge = new LayerGraph.Edge(end(ends.get(0), index), end(ends.get(1), index));
    if (edge.from() == edge.to()) {
      throw pair.wrong(pair.place() + " leads from a layer to itself; remove it");
    }
    return edge;
  }

  private static int end(Node end, Map<String, Integer> index) {
    Integer layer = index.get(end.text());
    if (layer == null) {
      throw end.wrong(
          end.place()
              + " names \""
              + end.text()
              + "\", which is no layer; use the name of a layer");
    }
    return layer;
  }

  private static Profile profile(Fields fields, List<LayerSizes> sizes) {
    List<Integer> samples = new ArrayList<>();
    List<List<LayerTimes>> times = new ArrayList<>();
    List<List<LayerMemory>> memory = new ArrayList<>();
    Node batches = fields.required("batches");
    for (Node batch : batches.list()) {
      Fields table = batch.object(BATCH_KEYS);
      samples.add(table.required("samples").count(Range.SAMPLES));
      times.add(times(table, sizes.size()));
      if (WORKING_KEYS.stream().anyMatch(key -> table.optional(key).isPresent())) {
        memory.add(memory(table, sizes.size()));
      }
    }
    Precision precision = fields.required("precision").word(PrecisionWords.BY_WORD);
    Provenance provenance = provenance(fields.required("provenance"));
    return batches.checked(() -> new Profile(provenance, precision, sizes, samples, times, memory));
  }

  private static List<LayerTimes> times(Fields table, int layers) {
    List<Node> forward = column(table, "forward_s", layers);
    List<Node> backward = column(table, "backward_s", layers);
    List<Node> update = column(table, "update_s", layers);
    double[] input = part(table, "input_gradient_s", layers);
    double[] weight = part(table, "weight_gradient_s", layers);
    List<LayerTimes> times = new ArrayList<>(layers);
    for (int i = 0; i < layers; i++) {
      int at = i;
      double seconds = forward.get(i).amount(Range.SECONDS);
      double all = backward.get(i).amount(Range.SECONDS);
      double step = update.get(i).amount(Range.SECONDS);
      Supplier<LayerTimes> made = () -> new LayerTimes(seconds, all, input[at], weight[at], step);
      times.add(backward.get(i).checked(made));
    }
    return times;
  }

  /** A part of backward passes; NaN where the file does not split one. */
  private static double[] part(Fields table, String key, int layers) {
    double[] part = new double[layers];
    Arrays.fill(part, Double.NaN);
    if (table.optional(key).isPresent()) {
      List<Node> given = column(table, key, layers);
      for (int i = 0; i < layers; i++) {
        part[i] =
            given.get(i).is(Node.Type.NOTHING) ? Double.NaN : given.get(i).amount(Range.SECONDS);
      }
    }
    return part;
  }

  /** A file may say the same of both passes. */
  private static List<LayerMemory> memory(Fields table, int layers) {
    boolean same = table.optional("working_bytes").isPresent();
    for (String key : WORKING_KEYS.subList(1, same ? WORKING_KEYS.size() : 1)) {
      if (table.optional(key).isPresent()) {
        Node other = table.required(key);
        throw other.wrong(
            other.place()
                + " is said by working_bytes, too, for both passes; leave one of them out");
      }
    }
    List<Node> forward = column(table, same ? "working_bytes" : "forward_working_bytes", layers);
    List<Node> backward = column(table, same ? "working_bytes" : "backward_working_bytes", layers);
    List<Node> kept = column(table, "split_kept_bytes", layers);
    List<Node> deferred = column(table, "deferred_bytes", layers);
    List<LayerMemory> memory = new ArrayList<>(layers);
    for (int i = 0; i < layers; i++) {
      memory.add(
          new LayerMemory(
              forward.get(i).amount(Range.BYTES),
              backward.get(i).amount(Range.BYTES),
              kept.get(i).amount(Range.BYTES),
              deferred.get(i).amount(Range.BYTES)));
    }
    return memory;
  }

  private static List<Node> column(Fields table, String key, int layers) {
    List<Node> column = table.required(key).list();
    if (column.size() != layers) {
      throw table
          .required(key)
          .wrong(
              table.required(key).place()
                  + " holds "
                  + column.size()
                  + " numbers; expected one for each of the "
                  + layers
                  + " layers");
    }
    return column;
  }

  private static Provenance provenance(Node node) {
    Fields fields = node.object(List.of("source", "device", "date", "measured"));
    return new Provenance(
        fields.required("source").text(),
        fields.required("device").text(),
        fields.required("date").text(),
        fields.required("measured").flag());
  }

  private static Optional<Training> training(Fields fields) {
    return fields
        .optional("training")
        .map(node -> node.object(List.of("optimizer", "precision")))
        .map(training ->
            new Training(
                training.required("optimizer").word(OPTIMIZERS),
                training.required("precision").word(PrecisionWords.BY_WORD)));
  }
}

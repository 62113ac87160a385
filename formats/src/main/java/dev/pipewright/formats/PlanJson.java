package dev.pipewright.formats;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Plans as JSON: the plan itself, or an object that holds it as {@code plan}, such as the answer of
 * {@code plan --json}. Further figures ({@code forward_s}, {@code memory_bytes}, …) are ignored.
 * {@code docs/formats.md} lists the keys.
 */
public final class PlanJson {
  static final String FORMAT = "pipewright-plan";
  static final int VERSION = 1;

  static final List<String> MADE_FOR =
      List.of(
          "model",
          "cluster",
          "cost_model",
          "global_batch",
          "profile_batch",
          "sequence",
          "optimizer",
          "precision",
          "device_memory_bytes",
          "memory_reserve");
  static final List<String> HEAD = List.of("format", "version");
  static final List<String> PLAN_KEYS =
      joined(
          List.of(
              HEAD,
              PlanScheduleJson.KEYS,
              List.of(
                  "micro_batches",
                  "micro_batch",
                  "replicas",
                  "overlap_allreduce",
                  "zero",
                  "stages"),
              MADE_FOR));
  static final List<String> ANSWER_KEYS =
      joined(List.of(HEAD, List.of("plan"), MADE_FOR, AnswerJson.KEYS));

  /** How version 1 says what {@code parallelism} does; degrees that are left out are 1. */
  private static final List<String> FORMER_DEGREES = List.of("kind", "data", "tensor");

  private static final List<String> KINDS = List.of("data", "tensor", "data+tensor", "one device");

  static final List<String> STAGE_KEYS =
      joined(
          List.of(
              List.of("layers", "devices", "parallelism", "recompute", "recomputed", "in_flight"),
              FORMER_DEGREES,
              AnswerJson.FIGURES));

  static final Map<String, Recompute> RECOMPUTE = new LinkedHashMap<>();

  static final Map<String, Optimizer> OPTIMIZERS = new LinkedHashMap<>();

  static {
    Stream.of(Optimizer.values()).forEach(o -> OPTIMIZERS.put(EnumWords.word(o), o));
    Stream.of(Recompute.values()).forEach(r -> RECOMPUTE.put(r.word(), r));
  }

  private PlanJson() {}

  static List<String> joined(List<List<String>> lists) {
    return lists.stream().flatMap(List::stream).distinct().toList();
  }

  /** Whether a file is an object that holds a plan or a plan's stages; whatever else is wrong. */
  public static boolean isPlan(Path file) {
    Node root = Tree.json(file);
    return root.is(Node.Type.OBJECT)
        && (root.members().containsKey("plan") || root.members().containsKey("stages"));
  }

  /**
   * Throws {@link BadInputException} when the file is no plan of synchronous training with data and
   * pipeline parallelism; {@link PlanFile#read} reads the others too.
   */
  public static PlanFile<PipelinePlan> read(Path file) {
    PlanTree tree = PlanTree.read(file);
    Node at = tree.plan().members().getOrDefault("schedule", tree.plan());
    String other =
        switch (tree.kind()) {
          case SYNCHRONOUS -> "";
          case ASYNCHRONOUS ->
              "the schedule " + at.text() + " never flushes, so that the plan has no training step";
          case PERIODIC -> "a pattern never flushes, so that the plan has no training step";
          case PLACEMENT -> "the plan places operators, so that it has no training step";
        };
    if (!other.isEmpty()) {
      throw at.wrong(
          other + "; give a plan for one of " + String.join(", ", PlanScheduleJson.names()));
    }
    return read(tree);
  }

  static PlanFile<PipelinePlan> read(PlanTree tree) {
    PlanTree.Members members = tree.members(PLAN_KEYS, ANSWER_KEYS);
    return new PlanFile<>(
        plan(members.inner()),
        members.madeFor(),
        members.either("cost_model").map(Node::text),
        new PlanFigures(tree),
        members.figure("objective", "value"),
        List.of(),
        Optional.empty());
  }

  static void checkVersion(Fields fields) {
    if (fields.optional("format").isPresent() || fields.optional("version").isPresent()) {
      fields.version(FORMAT, VERSION);
    }
  }

  private static PipelinePlan plan(Fields fields) {
    int microBatches = fields.required("micro_batches").count(1);
    int microBatch = fields.required("micro_batch").count(Range.SAMPLES);
    int replicas = fields.optional("replicas").map(n -> n.count(1)).orElse(1);
    boolean overlap = fields.optional("overlap_allreduce").map(Node::flag).orElse(false);
    List<Node> nodes = fields.required("stages").list();
    ScheduleSpec spec = PlanScheduleJson.read(fields, microBatches, nodes);
    int[] inFlight =
        fields.required("stages").checked(() -> spec.inFlight(nodes.size(), microBatches));
    List<StagePlan> stages = new ArrayList<>();
    for (Node node : nodes) {
      Fields stage = node.object(STAGE_KEYS);
      stages.add(stage(stage, microBatches, inFlight[stages.size()]));
    }
    PipelinePlan plan =
        fields
            .required("stages")
            .checked(
                () -> new PipelinePlan(spec, microBatches, microBatch, replicas, overlap, stages));
    return fields.optional("zero").map(node -> sharded(plan, node)).orElse(plan);
  }

  /** The plan with the ZeRO stage that a file says. */
  private static PipelinePlan sharded(PipelinePlan plan, Node node) {
    int level = node.count(0);
    ZeroStage sharding =
        ZeroStage.of(level)
            .orElseThrow(() ->
                node.wrong(
                    "there are ZeRO stages 0 to 3, not %d; give one of them".formatted(level)));
    PipelinePlan sharded = plan.with(sharding);
    Assignment.of(sharded)
        .shardingRefusal()
        .ifPresent(why -> {
          throw node.wrong(why);
        });
    return sharded;
  }

  private static StagePlan stage(Fields fields, int microBatches, int usualInFlight) {
    List<Integer> layers = ends(fields.required("layers"));
    List<Integer> devices = fields.counts("devices", 0);
    Recompute recompute =
        fields.optional("recompute").map(n -> n.word(RECOMPUTE)).orElse(Recompute.NONE);
    Optional<Node> given = fields.optional("in_flight");
    int inFlight = given.map(n -> n.count(1)).orElse(usualInFlight);
    if (inFlight > microBatches) {
      throw given
          .orElse(fields.node())
          .unsound(
              "in_flight=%d exceeds micro_batches=%d; a stage holds at most all of them"
                  .formatted(inFlight, microBatches));
    }
    List<LayerRange> again = fields.optional("recomputed").map(PlanJson::ranges).orElse(List.of());
    Parallelism parallelism = parallelism(fields, devices.size());
    return fields
        .node()
        .checked(() ->
            new StagePlan(
                layers.get(0), layers.get(1), devices, parallelism, recompute, inFlight, again));
  }

  private static Parallelism parallelism(Fields stage, int devices) {
    Optional<Node> said = stage.optional("parallelism");
    if (said.isPresent() && said.get().is(Node.Type.TEXT)) {
      return Parallelism.parse(said.get().text())
          .orElseThrow(() ->
              said.get()
                  .wrong(
                      "%s is \"%s\"; expected a kind of tensor, sequence, context, expert, filter, channel or spatial with its parts, like tensor:4"
                          .formatted(said.get().place(), said.get().text())));
    }
    int tensor = stage.optional("tensor").map(node -> node.count(1)).orElse(1);
    Optional<Node> given = stage.optional("data");
    int data = given.map(node -> node.count(1)).orElse(Math.max(1, devices / tensor));
    if (Math.multiplyFull(data, tensor) != devices
        && (given.isPresent() || stage.optional("tensor").isPresent())) {
      throw given
          .or(() -> stage.optional("tensor"))
          .orElseThrow()
          .unsound(
              "the stage has %d devices, but data %d times tensor %d makes %d; make them agree"
                  .formatted(devices, data, tensor, Math.multiplyFull(data, tensor)));
    }
    stage.optional("kind").ifPresent(kind -> checkKind(kind, data, tensor));
    return tensor == 1 ? Parallelism.NONE : Parallelism.of(Parallelism.Kind.TENSOR, tensor);
  }

  private static void checkKind(Node kind, int data, int tensor) {
    Map<String, String> words = new LinkedHashMap<>();
    KINDS.forEach(word -> words.put(word, word));
    String right =
        tensor > 1 ? data > 1 ? "data+tensor" : "tensor" : data > 1 ? "data" : "one device";
    if (!kind.word(words).equals(right)) {
      throw kind.unsound(
          "%s is \"%s\", but data %d and tensor %d are \"%s\"; make them agree"
              .formatted(kind.place(), kind.text(), data, tensor, right));
    }
  }

  /** Runs of layers, each as {@link #ends} says. */
  static List<LayerRange> ranges(Node node) {
    List<LayerRange> ranges = new ArrayList<>();
    for (Node range : node.list()) {
      List<Integer> ends = ends(range);
      ranges.add(range.checked(() -> new LayerRange(ends.get(0), ends.get(1))));
    }
    return ranges;
  }

  /** The first and the last of some layers. */
  static List<Integer> ends(Node node) {
    List<Integer> ends = node.list().stream().map(element -> element.count(0)).toList();
    if (ends.size() != 2) {
      throw node.wrong(
          node.place()
              + " holds "
              + ends.size()
              + " numbers; expected [first, last], last inclusive");
    }
    return ends;
  }

  /** The text of a file that {@link #read} reads back equal. */
  public static String text(PlanFile<PipelinePlan> file) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("format", FORMAT);
    object.put("version", VERSION);
    file.costModel().ifPresent(costModel -> object.put("cost_model", costModel));
    file.madeFor().put(object);
    object.put("plan", object(file.plan()));
    return JsonText.of(object);
  }

  /** Replaces {@code file}. */
  public static void write(Path path, PlanFile<PipelinePlan> file) {
    OutputFile.write(path, text(file));
  }

  /** The plan alone, without figures. */
  public static Map<String, Object> object(PipelinePlan plan) {
    return object(plan, plan.stages().stream().map(PlanJson::object).toList());
  }

  /** A plan whose stages are already objects. */
  static Map<String, Object> object(PipelinePlan plan, List<Map<String, Object>> stages) {
    Map<String, Object> object = new LinkedHashMap<>();
    PlanScheduleJson.put(object, plan.spec());
    object.put("micro_batches", plan.microBatches());
    object.put("micro_batch", plan.microBatch());
    object.put("replicas", plan.replicas());
    object.put("overlap_allreduce", plan.overlapGradients());
    if (plan.sharding() != ZeroStage.NOTHING) {
      object.put("zero", plan.sharding().level());
    }
    object.put("stages", stages);
    return object;
  }

  static Map<String, Object> object(StagePlan stage) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("layers", List.of(stage.firstLayer(), stage.lastLayer()));
    object.put("devices", stage.devices());
    if (stage.parallelism().several()) {
      object.put("parallelism", stage.parallelism().toString());
    }
    object.put("in_flight", stage.inFlight());
    object.put("recompute", stage.recompute().word());
    if (!stage.again().isEmpty()) {
      object.put(
          "recomputed",
          stage.again().stream().map(run -> List.of(run.first(), run.last())).toList());
    }
    return object;
  }
}

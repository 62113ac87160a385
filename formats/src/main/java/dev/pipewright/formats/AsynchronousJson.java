package dev.pipewright.formats;

import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.units.Range;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads plans that never flush, as {@link PipeDreamJson} and {@link PipeDream2bwJson} write them:
 * the answer, or the plan alone. Further figures are ignored but for the objective.
 */
public final class AsynchronousJson {
  private static final List<String> LEVELS = List.of("levels", "bandwidths", "activation_transfer");
  static final List<String> PLAN_KEYS =
      PlanKeys.joined(
          List.of(
              PlanKeys.HEAD,
              List.of("schedule", "micro_batches", "micro_batch", "replicas", "stages"),
              PlanKeys.MADE_FOR,
              LEVELS));
  static final List<String> ANSWER_KEYS =
      PlanKeys.joined(
          List.of(PlanKeys.HEAD, List.of("plan"), PlanKeys.MADE_FOR, LEVELS, PlanKeys.ANSWER));
  static final List<String> STAGE_KEYS =
      PlanKeys.joined(
          List.of(
              List.of("layers", "devices", "recompute", "in_flight"),
              List.of("replicas_by_level", "minibatch_s", "transfer_s"),
              PlanKeys.STAGE_FIGURES));

  private static final Map<String, Rule> RULES = new LinkedHashMap<>();

  static {
    for (Rule rule : Rule.values()) {
      RULES.put(rule.schedule(), rule);
    }
  }

  private AsynchronousJson() {}

  static PlanFile<AsynchronousPlan> read(PlanTree tree) {
    PlanTree.Members members = tree.members(PLAN_KEYS, ANSWER_KEYS);
    return new PlanFile<>(
        plan(members.inner()),
        members.madeFor(),
        Optional.empty(),
        PlanFigures.NONE,
        members.figure("objective", "value"),
        levels(members),
        Optional.empty());
  }

  private static List<BandwidthLevel> levels(PlanTree.Members members) {
    Optional<Node> units = members.either("levels");
    Optional<Node> rates = members.either("bandwidths");
    if (units.isEmpty() && rates.isEmpty()) {
      return List.of();
    }
    Node one = units.or(() -> rates).orElseThrow();
    if (units.isEmpty()
        || rates.isEmpty()
        || units.get().list().size() != rates.get().list().size()) {
      throw one.wrong("levels and bandwidths belong together; give one of each, innermost first");
    }
    List<BandwidthLevel> levels = new ArrayList<>();
    for (int i = 0; i < units.get().list().size(); i++) {
      levels.add(
          new BandwidthLevel(
              units.get().list().get(i).count(1),
              rates.get().list().get(i).positive(Range.BYTES_PER_SECOND)));
    }
    return levels;
  }

  private static AsynchronousPlan plan(Fields fields) {
    Rule rule = fields.required("schedule").word(RULES);
    int microBatches = fields.required("micro_batches").count(1);
    int microBatch = fields.required("micro_batch").count(Range.SAMPLES);
    int replicas = fields.optional("replicas").map(node -> node.count(1)).orElse(1);
    Node list = fields.required("stages");
    List<StagePlan> bare = new ArrayList<>();
    for (Node node : list.list()) {
      bare.add(stage(node));
    }
    return list.checked(() -> {
      int[] usual = bare.isEmpty() ? new int[0] : AsynchronousPlan.inFlight(rule, bare);
      List<StagePlan> stages = new ArrayList<>();
      for (int s = 0; s < usual.length; s++) {
        Optional<Node> given = list.list().get(s).object().optional("in_flight");
        int inFlight = given.map(node -> node.count(1)).orElse(usual[s]);
        StagePlan stage = bare.get(s);
        stages.add(
            new StagePlan(
                stage.firstLayer(),
                stage.lastLayer(),
                stage.devices(),
                stage.recompute(),
                inFlight));
      }
      return new AsynchronousPlan(rule, microBatches, microBatch, replicas, stages);
    });
  }

  /** Reads a stage, but for the micro-batches in flight, which depend on all stages. */
  private static StagePlan stage(Node node) {
    Fields fields = node.object(STAGE_KEYS);
    List<Integer> layers = PlanJson.ends(fields.required("layers"));
    List<Integer> devices = fields.counts("devices", 0);
    Recompute recompute =
        fields.optional("recompute").map(n -> n.word(PlanJson.RECOMPUTE)).orElse(Recompute.NONE);
    return node.checked(() -> new StagePlan(layers.get(0), layers.get(1), devices, recompute, 1));
  }
}

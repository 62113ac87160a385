package dev.pipewright.formats;

import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PatternPlan;
import dev.pipewright.plan.PatternPlan.Stage;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Discipline.Dropping;
import dev.pipewright.schedule.periodic.Discipline.OneForwardOneBackward;
import dev.pipewright.schedule.periodic.Discipline.Star;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.units.Range;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the periodic plans that {@link PeriodicJson} writes. */
final class PeriodicReader {
  static final List<String> PLAN_KEYS =
      PlanKeys.joined(
          List.of(
              PlanKeys.HEAD,
              List.of("schedule", "micro_batch", "period_s", "batches", "contiguous"),
              List.of("steady_idle_share", "stages", "device_bytes", "pattern"),
              PlanKeys.MADE_FOR));
  static final List<String> ANSWER_KEYS =
      PlanKeys.joined(List.of(PlanJson.ANSWER_KEYS, List.of("bounds")));
  static final List<String> STAGE_KEYS =
      PlanKeys.joined(
          List.of(
              List.of("layers", "devices", "recompute", "recomputed", "in_flight"),
              PlanKeys.STAGE_FIGURES));
  private static final Pattern DROPPING = Pattern.compile("([1-9]\\d{0,3})-periodic");
  private static final Map<String, Pass> PASSES = Map.of("F", Pass.FORWARD, "B", Pass.BACKWARD);

  private static final int MOST_SHIFT = 1_000_000;

  private PeriodicReader() {}

  static PlanFile<PatternPlan> read(PlanTree tree) {
    PlanTree.Members members = tree.members(PLAN_KEYS, ANSWER_KEYS);
    Fields plan = members.inner();
    return new PlanFile<>(
        pattern(plan),
        members.madeFor(),
        Optional.empty(),
        new PlanFigures(tree),
        members.figure("objective", "value"),
        List.of(),
        plan.optional("contiguous").map(Node::flag));
  }

  private static PatternPlan pattern(Fields plan) {
    int samples = plan.required("micro_batch").count(Range.SAMPLES);
    double period = plan.required("period_s").positive(Range.SECONDS);
    int batches = plan.required("batches").count(1);
    Discipline discipline = discipline(plan.required("schedule"), batches);
    List<Stage> stages = new ArrayList<>();
    for (Node node : plan.required("stages").list()) {
      stages.add(stage(node));
    }
    plan.required("stages").checked(() -> PatternPlan.inOrder(stages));
    List<RepeatedOp> ops = new ArrayList<>();
    Map<List<Object>, Node> known = new HashMap<>();
    for (Node node : plan.required("pattern").list()) {
      RepeatedOp op = op(node, stages.size(), period);
      int batch = Math.floorMod(op.shift(), batches);
      Node first = known.putIfAbsent(List.of(op.pass(), op.stage(), batch), node);
      if (first != null) {
        throw node.unsound(
            "%s does what %s does, for the same batch; leave one"
                .formatted(node.place(), first.place()));
      }
      ops.add(op);
    }
    long count = 2L * (2 * stages.size() - 1) * batches;
    if (ops.size() != count) {
      throw plan.required("pattern")
          .unsound(
              "%s holds %d ops; %d stages, the transfers between them and %d batches make %d, so add the others"
                  .formatted(
                      plan.required("pattern").place(), ops.size(), stages.size(), batches, count));
    }
    return plan.required("pattern")
        .checked(() -> new PatternPlan(discipline, samples, period, batches, stages, ops));
  }

  private static Discipline discipline(Node node, int batches) {
    Matcher dropping = DROPPING.matcher(node.text());
    Discipline discipline;
    if (dropping.matches()) {
      discipline = new Dropping(Integer.parseInt(dropping.group(1)));
    } else if (node.text().equals("1f1b")) {
      discipline = new OneForwardOneBackward();
    } else if (node.text().equals("1f1b-star")) {
      discipline = new Star();
    } else {
      throw node.wrong(
          "%s is the text \"%s\"; expected 1f1b, 1f1b-star, or like 2-periodic"
              .formatted(node.place(), node.text()));
    }
    int kept = discipline instanceof Dropping drops ? drops.batches() : 1;
    if (kept != batches) {
      throw node.unsound(
          "a pattern of %s has %d in a period, but batches says %d; make them agree"
              .formatted(node.text(), kept, batches));
    }
    return discipline;
  }

  private static Stage stage(Node node) {
    Fields fields = node.object(STAGE_KEYS);
    List<Integer> layers = PlanJson.ends(fields.required("layers"));
    List<Integer> devices = fields.counts("devices", 0);
    if (devices.size() != 1) {
      throw fields
          .required("devices")
          .wrong(
              "%s names %d devices; a stage of a periodic plan has one"
                  .formatted(fields.required("devices").place(), devices.size()));
    }
    Recompute recompute =
        fields.optional("recompute").map(n -> n.word(PlanJson.RECOMPUTE)).orElse(Recompute.NONE);
    List<LayerRange> runs = fields.optional("recomputed").map(PlanJson::ranges).orElse(List.of());
    StagePlan read =
        node.checked(
            () -> new StagePlan(layers.get(0), layers.get(1), devices, recompute, 1, runs));
    List<LayerRange> again =
        recompute == Recompute.STAGE_INPUT
            ? List.of(new LayerRange(read.firstLayer(), read.lastLayer()))
            : read.again();
    return new Stage(read.firstLayer(), read.lastLayer() + 1, devices.get(0), again);
  }

  /** {@code ["F", 0, 0.25, 1]}: letter, stage, start, shift; SF and SB are transfers after it. */
  private static RepeatedOp op(Node node, int stages, double period) {
    if (node.list().size() != 4) {
      throw node.wrong(
          "%s holds %d values; expected [letter, stage, start, shift]"
              .formatted(node.place(), node.list().size()));
    }
    Node letter = node.list().get(0);
    String word = letter.text();
    boolean transfer = word.length() == 2 && word.startsWith("S");
    Pass pass = PASSES.get(transfer ? word.substring(1) : word);
    if (pass == null) {
      throw letter.wrong(
          "%s is the text \"%s\"; expected F, B, SF or SB".formatted(letter.place(), word));
    }
    int stage = node.list().get(1).count(0);
    int most = transfer ? stages - 2 : stages - 1;
    if (stage > most) {
      throw node.list()
          .get(1)
          .unsound(
              "%s is %d, but %s are 0..%d; name one of those"
                  .formatted(
                      node.list().get(1).place(),
                      stage,
                      transfer ? "stages with one behind them" : "stages",
                      most));
    }
    double start = node.list().get(2).amount(Range.SECONDS);
    if (start >= period) {
      throw node.list()
          .get(2)
          .unsound(
              "%s is %s, but a period has %s seconds; let it start in one, or lengthen period_s"
                  .formatted(node.list().get(2).place(), start, period));
    }
    int shift = node.list().get(3).within(MOST_SHIFT);
    return new RepeatedOp(pass, 2 * stage + (transfer ? 1 : 0), start, shift);
  }
}

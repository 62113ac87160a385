package dev.pipewright.formats;

import static dev.pipewright.formats.json.JsonText.pair;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.madpipe.LayerChain;
import dev.pipewright.planner.madpipe.MadPipe;
import dev.pipewright.planner.madpipe.PeriodicPlanning;
import dev.pipewright.planner.madpipe.PlacedPattern;
import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes the answer of {@code plan --planner madpipe --json}: seconds per mini-batch, the stages,
 * of which a device may have several, and the pattern that repeats. Where nothing fits, {@code
 * plan} is null. {@link PlanFiles#read} reads the plan back.
 */
public final class PeriodicJson {
  private PeriodicJson() {}

  /**
   * The answer as one object.
   *
   * @param madeFor with the samples of a mini-batch as its global batch
   * @param provenance where the model's times come from
   * @param memory what each stage takes of its device, which may have others; none without a plan
   */
  public static String text(
      PeriodicPlanning planning,
      MadeFor madeFor,
      String provenance,
      List<StageMemory> memory,
      double planningSeconds) {
    Optional<PlacedPattern> best = planning.best();
    LayerChain chain = planning.problem().chain();
    double seconds = best.map(PlacedPattern::secondsPerBatch).orElse(Double.NaN);
    Map<String, Object> object = madeFor.object(MadPipe.NAME);
    object.put("profile", provenance);
    object.put("objective", pair("name", "minibatch_s", "value", seconds));
    object.put("lower_bound", bound(planning.lowerBound()));
    object.put("bounds", planning.bounds().stream().map(PeriodicJson::bound).toList());
    object.put("speedup", chain.stage(0, chain.layers()).seconds() / seconds);
    object.put("planning_s", planningSeconds);
    object.put("plan", best.map(plan -> plan(planning, plan, madeFor, memory)));
    object.put("why", why(planning));
    object.put("candidates", candidates(planning));
    object.put("search", pair("complete", planning.complete(), "gap", planning.gap()));
    return JsonText.of(object);
  }

  private static Map<String, Object> bound(LowerBound bound) {
    return pair("value", bound.value(), "why", bound.why());
  }

  private static Map<String, Object> plan(
      PeriodicPlanning planning, PlacedPattern plan, MadeFor madeFor, List<StageMemory> memory) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("schedule", plan.discipline().toString());
    madeFor.globalBatch().ifPresent(samples -> object.put("micro_batch", samples));
    object.put("period_s", plan.pattern().period());
    object.put("batches", plan.pattern().batches());
    object.put("steady_idle_share", plan.idleShare(planning.problem().devices()));
    object.put("contiguous", plan.contiguous());
    List<Map<String, Object>> stages = new ArrayList<>();
    for (int stage = 0; stage < memory.size(); stage++) {
      stages.add(stage(planning.problem().chain(), plan, stage, memory.get(stage)));
    }
    object.put("stages", stages);
    List<Long> bytes = new ArrayList<>();
    for (double sum : planning.problem().bytes(plan)) {
      bytes.add(Math.round(sum));
    }
    object.put("device_bytes", bytes);
    object.put("pattern", plan.pattern().ops().stream().map(PeriodicJson::op).toList());
    return object;
  }

  private static Map<String, Object> stage(
      LayerChain chain, PlacedPattern plan, int stage, StageMemory memory) {
    Placed placed = plan.inNetwork(chain).stages().get(stage);
    StageLoad load = plan.pattern().stages().get(2 * stage);
    boolean last = stage == plan.stages().size() - 1;
    double send = last ? 0 : plan.pattern().stages().get(2 * stage + 1).forwardSeconds();
    List<Integer> layers = List.of(placed.first(), placed.end() - 1);
    Map<String, Object> object = pair("layers", layers, "devices", List.of(placed.device()));
    object.put("in_flight", memory.inFlight());
    object.put("recompute", placed.recompute().word());
    if (placed.recompute() == Recompute.SELECTIVE) {
      object.put(
          "recomputed",
          placed.again().stream().map(run -> List.of(run.first(), run.last())).toList());
    }
    object.put("forward_s", load.forwardSeconds());
    object.put("backward_s", load.backwardSeconds());
    object.put("send_s", send);
    StageMemoryJson.put(object, memory.device());
    return object;
  }

  /** An op as [letter, stage, start, shift]; a transfer is SF or SB of the stage before its cut. */
  private static List<Object> op(RepeatedOp op) {
    String letter = (op.stage() % 2 == 0 ? "" : "S") + op.pass().letter();
    return List.of(letter, op.stage() / 2, op.start(), op.shift());
  }

  private static Map<String, Object> why(PeriodicPlanning planning) {
    Optional<Map<String, Object>> contiguous =
        planning.general().flatMap(g -> planning.contiguous()).map(plan -> kind(planning, plan));
    Map<String, Object> why =
        pair("binding", planning.binding(), "runner_up", contiguous.or(() -> plain(planning)));
    why.put("contiguous_ratio", planning.contiguousRatio());
    return why;
  }

  private static Optional<Map<String, Object>> plain(PeriodicPlanning planning) {
    return planning
        .star()
        .filter(star -> planning.dropping().isPresent())
        .or(planning::plain)
        .map(plan -> kind(planning, plan));
  }

  private static Map<String, Object> kind(PeriodicPlanning planning, PlacedPattern plan) {
    Map<String, Object> object =
        pair("kind", plan.discipline().toString(), "plan", summary(planning, plan));
    object.put("seconds", plan.secondsPerBatch());
    double best = planning.best().map(PlacedPattern::secondsPerBatch).orElse(Double.NaN);
    object.put("gap", plan.secondsPerBatch() / best - 1);
    return object;
  }

  private static String summary(PeriodicPlanning planning, PlacedPattern plan) {
    return plan.inNetwork(planning.problem().chain()).toString();
  }

  private static List<Map<String, Object>> candidates(PeriodicPlanning planning) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (var kind :
        List.of(planning.general(), planning.dropping(), planning.star(), planning.plain())) {
      kind.ifPresent(plan -> all.add(kind(planning, plan)));
    }
    return all;
  }
}

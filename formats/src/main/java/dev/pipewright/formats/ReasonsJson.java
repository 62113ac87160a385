package dev.pipewright.formats;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Change;
import dev.pipewright.planner.reasons.PlanComparison;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.planner.reasons.StepPart;
import dev.pipewright.planner.reasons.StepParts;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The members of {@code why} in an answer that say why a plan is the best. */
final class ReasonsJson {
  private ReasonsJson() {}

  /** Without members where there are no reasons. */
  static Map<String, Object> object(Reasons reasons) {
    Map<String, Object> object = new LinkedHashMap<>();
    List<PlanComparison> comparisons = reasons.comparisons();
    if (!comparisons.isEmpty()) {
      object.put("step", parts(comparisons.get(0).chosen()));
      object.put("alternatives", comparisons.stream().map(ReasonsJson::comparison).toList());
    }
    if (!reasons.changes().isEmpty()) {
      object.put("what_if", reasons.changes().stream().map(ReasonsJson::change).toList());
    }
    return object;
  }

  private static Map<String, Object> comparison(PlanComparison comparison) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", comparison.name());
    putPlan(object, comparison.other());
    object.put("fits", comparison.misfit().isEmpty());
    object.put("gap", comparison.gap());
    object.put("step", parts(comparison.parts()));
    object.put("because", comparison.reasons().stream().map(StepPart::key).toList());
    object.put("sentence", comparison.sentence());
    return object;
  }

  private static Map<String, Object> change(Change change) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("change", change.words());
    change.best().ifPresent(best -> putPlan(object, best));
    object.put("gain", change.gain());
    object.put("sentence", change.sentence());
    return object;
  }

  private static void putPlan(Map<String, Object> object, Candidate candidate) {
    PipelinePlan plan = candidate.plan();
    object.put("plan", plan.summary());
    PlanDegreesJson.put(object, plan);
    object.put("schedule", plan.spec().scheduleName());
    object.put("micro_batches", plan.microBatches());
    object.put("micro_batch", plan.microBatch());
    object.put("zero", plan.sharding().level());
    object.put("seconds", candidate.seconds());
    object.put("peak_bytes", Math.round(candidate.peakBytes()));
  }

  private static Map<String, Object> parts(StepParts parts) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (StepPart part : StepPart.values()) {
      object.put(part.key() + "_s", parts.of(part));
    }
    return object;
  }
}

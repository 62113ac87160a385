package dev.pipewright.app.cli;

import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.HybridJson;
import dev.pipewright.formats.StageMemoryJson;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.planner.memory.MemoryPlanning;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The answer of a memory planner as JSON, in the form of {@code plan --json}. */
final class MemoryAnswerJson {
  private MemoryAnswerJson() {}

  /** {@code plan} is null where nothing fits, {@code simulated} where nobody can simulate it. */
  static Map<String, Object> object(
      MemoryPlanning planning, double planningSeconds, Optional<Double> simulated, int devices) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", planning.planner());
    object.put("objective", pair("name", "peak_bytes", "value", planning.peakBytes()));
    object.put(
        "lower_bound",
        pair("value", planning.lowerBound().bytes(), "why", planning.lowerBound().why()));
    object.put("planning_s", planningSeconds);
    object.put("plan", planning.best().map(MemoryAnswerJson::plan));
    object.put(
        "simulated",
        simulated.map(step ->
            pair("step_s", step, "peak_bytes", byDevice(planning.best().orElseThrow(), devices))));
    Map<String, Object> why = new LinkedHashMap<>();
    why.put("binding", planning.binding());
    why.put("gap", planning.gap());
    why.put("runner_up", planning.runnerUp().map(MemoryAnswerJson::runnerUp));
    object.put("why", why);
    object.put(
        "candidates", planning.candidates().stream().map(MemoryAnswerJson::candidate).toList());
    object.put(
        "search", pair("exhaustive", planning.exhaustive(), "considered", planning.considered()));
    return object;
  }

  /** What was planned, for what, trained how. */
  static void putContext(Map<String, Object> object, ModelArgument.Costed costed, int globalBatch) {
    Workload workload = costed.workload();
    object.put("model", costed.model());
    object.put("cluster", costed.cluster());
    object.put("cost_model", "pipewright");
    object.put("global_batch", globalBatch);
    object.put("optimizer", word(workload.training().optimizer()));
    object.put("precision", word(workload.training().precision()));
    costed.memory().bytes().ifPresent(bytes -> object.put("device_memory_bytes", bytes));
    costed.memory().reserve().ifPresent(share -> object.put("memory_reserve", share));
    object.put("profile", workload.profile().provenance().toString());
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static Map<String, Object> pair(String key, Object value, String other, Object that) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(key, value);
    object.put(other, that);
    return object;
  }

  private static Map<String, Object> plan(HybridPlan plan) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("schedule", plan.policy().schedule());
    object.put("micro_batches", plan.microBatches());
    object.put("micro_batch", plan.microBatch());
    object.put("replicas", 1);
    object.put("overlap_allreduce", false);
    boolean divided = plan.stages().stream().anyMatch(stage -> stage.degrees().tensor() > 1);
    object.put("stages", plan.stages().stream().map(stage -> stage(stage, divided)).toList());
    return object;
  }

  /** Degrees stand only in plans that divide some tensor: others are plans like all. */
  private static Map<String, Object> stage(Stage stage, boolean divided) {
    StageCost cost = stage.cost();
    Map<String, Object> object =
        pair("layers", List.of(stage.firstLayer(), stage.lastLayer()), "devices", stage.devices());
    if (divided) {
      HybridJson.put(object, stage.degrees());
    }
    object.put("in_flight", stage.inFlight());
    object.put("recompute", stage.recompute().word());
    if (stage.recompute() == Recompute.SELECTIVE) {
      object.put(
          "recomputed",
          stage.again().stream().map(run -> List.of(run.first(), run.last())).toList());
    }
    object.put("forward_s", cost.forwardSeconds());
    object.put("backward_s", cost.backwardSeconds());
    object.put("send_s", cost.sendSeconds());
    object.put("return_s", cost.returnSeconds());
    object.put("allreduce_s", cost.allReduceSeconds());
    object.put("exposed_allreduce_s", cost.exposedAllReduceSeconds());
    object.put("update_s", cost.updateSeconds());
    StageMemoryJson.put(object, cost.memory());
    return object;
  }

  private static List<Long> byDevice(HybridPlan plan, int devices) {
    List<Long> peaks = new ArrayList<>(Collections.nCopies(devices, 0L));
    for (Stage stage : plan.stages()) {
      for (int device : stage.devices()) {
        peaks.set(device, Math.round(stage.cost().memory().peakBytes()));
      }
    }
    return peaks;
  }

  private static Map<String, Object> runnerUp(MemoryPlanning.RunnerUp other) {
    Map<String, Object> object = pair("plan", other.summary(), "peak_bytes", other.peakBytes());
    object.put("gap", other.gap());
    return object;
  }

  private static Map<String, Object> candidate(HybridPlan plan) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("summary", plan.summary());
    object.put("schedule", plan.policy().schedule());
    object.put("micro_batches", plan.microBatches());
    object.put("micro_batch", plan.microBatch());
    object.put("peak_bytes", Math.round(plan.peakBytes()));
    object.put("estimate_s", plan.stepSeconds());
    object.put("samples_per_s", plan.throughput());
    List<String> kinds = plan.stages().stream().map(stage -> stage.degrees().kind()).toList();
    object.put("kinds", kinds);
    return object;
  }
}

package dev.pipewright.formats;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Plan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.trace.RankMemory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Writes the answer of {@code plan --json}: one object, seconds and bytes as plain numbers. {@link
 * PlanJson} reads the plan back. Where nothing fits, {@code plan} and the figures of it are null.
 */
public final class AnswerJson {
  /** What an answer says beside the plan and what it was made for. */
  static final List<String> KEYS =
      List.of(
          "planner",
          "objective",
          "lower_bound",
          "speedup",
          "planning_s",
          "simulated",
          "why",
          "candidates",
          "profile",
          "search",
          "micro_batch_per_rank",
          "samples_per_s",
          "tokens_per_s",
          "tflops_per_device",
          "mfu");

  /** What an answer says of each stage beside the decision. */
  static final List<String> FIGURES =
      List.of(
          "forward_s",
          "backward_s",
          "send_s",
          "return_s",
          "allreduce_s",
          "exposed_allreduce_s",
          "update_s",
          "memory_bytes",
          "memory",
          "capacity_bytes",
          "micro_batch_per_rank",
          "parallelism");

  /**
   * What an answer says beside the planning itself.
   *
   * @param model a file or a name of the zoo
   * @param cluster a file or a name of the zoo
   * @param provenance where the model's times come from
   * @param globalBatch samples per step
   * @param profileBatch samples that the model's times are for, where its file does not say
   * @param planningSeconds how long the search took
   * @param simulated what the simulator says of the best plan, where it was asked
   * @param training how the model is trained
   * @param memory what is known of every device's memory beside the cluster
   */
  public record Context(
      String model,
      String cluster,
      String provenance,
      OptionalLong globalBatch,
      OptionalInt profileBatch,
      double planningSeconds,
      Optional<Simulated> simulated,
      Optional<Training> training,
      GivenMemory memory) {}

  /**
   * A simulated step.
   *
   * @param idleShare part of the step, over all stages, in which a stage computes nothing
   * @param spanIdleShare part of the longest span from a stage's first pass to its last in which
   *     the busiest stage computes nothing
   * @param peakBytes of each device of each stage
   * @param memory what each stage's devices hold when they hold most
   * @param jitter what many runs with durations that differ took, where they were asked for
   */
  public record Simulated(
      double stepSeconds,
      double idleShare,
      double spanIdleShare,
      List<Long> peakBytes,
      List<RankMemory> memory,
      Optional<JitterJson> jitter) {
    public Simulated {
      peakBytes = List.copyOf(peakBytes);
      memory = List.copyOf(memory);
    }
  }

  private AnswerJson() {}

  /** The answer as JSON text that ends with a line feed. */
  public static String text(Planning planning, Context context) {
    return JsonText.of(object(planning, context));
  }

  private static Map<String, Object> object(Planning planning, Context context) {
    Optional<Candidate> best = planning.best();
    double step = best.map(b -> b.estimate().stepSeconds()).orElse(Double.NaN);
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", planning.planner());
    object.put("model", context.model());
    object.put("cluster", context.cluster());
    object.put("cost_model", planning.costModel());
    context.globalBatch().ifPresent(batch -> object.put("global_batch", batch));
    context.profileBatch().ifPresent(batch -> object.put("profile_batch", batch));
    PlanJson.putSetting(object, context.training(), context.memory());
    object.put("profile", context.provenance());
    object.put("objective", pair("name", "step_s", "value", step));
    object.put(
        "lower_bound",
        pair("value", planning.lowerBound().seconds(), "why", planning.lowerBound().why()));
    object.put("speedup", planning.speedUp());
    object.put("planning_s", context.planningSeconds());
    object.put("plan", best.map(b -> plan(b.plan(), b.estimate())));
    object.put("simulated", context.simulated().map(AnswerJson::simulated));
    object.put("why", why(planning));
    object.put("candidates", planning.candidates().stream().map(AnswerJson::candidate).toList());
    object.put("search", search(planning.search()));
    return object;
  }

  private static Map<String, Object> pair(String key, Object value, String other, Object that) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(key, value);
    object.put(other, that);
    return object;
  }

  private static Map<String, Object> plan(Plan plan, Assessment estimate) {
    List<Map<String, Object>> stages = new ArrayList<>();
    for (int i = 0; i < plan.stages().size(); i++) {
      Map<String, Object> stage = PlanJson.object(plan.stages().get(i));
      if (i < estimate.stages().size()) {
        int devices = plan.stages().get(i).replicas();
        stage.put("micro_batch_per_rank", StageCosts.slice(plan.microBatching(), devices));
        putFigures(stage, estimate.stages().get(i));
      }
      stages.add(stage);
    }
    return PlanJson.object(plan, stages);
  }

  private static void putFigures(Map<String, Object> stage, StageCost cost) {
    stage.put("forward_s", cost.forwardSeconds());
    stage.put("backward_s", cost.backwardSeconds());
    stage.put("send_s", cost.sendSeconds());
    stage.put("return_s", cost.returnSeconds());
    stage.put("allreduce_s", cost.allReduceSeconds());
    stage.put("exposed_allreduce_s", cost.exposedAllReduceSeconds());
    stage.put("update_s", cost.updateSeconds());
    StageMemoryJson.put(stage, cost.memory());
  }

  private static Map<String, Object> simulated(Simulated simulated) {
    Map<String, Object> object =
        pair("step_s", simulated.stepSeconds(), "idle_share", simulated.idleShare());
    object.put("stage_span_idle_share", simulated.spanIdleShare());
    object.put("peak_bytes", simulated.peakBytes());
    object.put("memory", RankMemoryJson.list(simulated.memory()));
    simulated.jitter().ifPresent(jitter -> object.put("jitter", jitter.object()));
    return object;
  }

  private static Map<String, Object> why(Planning planning) {
    Optional<Map<String, Object>> runnerUp =
        planning.best().flatMap(best -> planning.runnerUp().map(rival -> runnerUp(best, rival)));
    return pair("binding", planning.binding(), "runner_up", runnerUp);
  }

  /** The gap is how much longer the rival takes, as a share of the best. */
  private static Map<String, Object> runnerUp(Candidate best, Candidate rival) {
    Map<String, Object> object = pair("kind", rival.kind(), "plan", rival.plan().summary());
    object.put("seconds", rival.seconds());
    object.put("gap", rival.seconds() / best.seconds() - 1);
    return object;
  }

  private static Map<String, Object> candidate(Candidate candidate) {
    Map<String, Object> object =
        pair("kind", candidate.kind(), "summary", candidate.plan().summary());
    object.put("estimate_s", candidate.estimate().stepSeconds());
    candidate.simulated().ifPresent(s -> object.put("simulated_s", s.stepSeconds()));
    object.put("peak_bytes", Math.round(candidate.estimate().peakBytes()));
    return object;
  }

  private static Map<String, Object> search(Planning.Search search) {
    Map<String, Object> object = pair("exhaustive", search.exhaustive(), "labels", search.labels());
    object.put("space", search.space());
    return object;
  }
}

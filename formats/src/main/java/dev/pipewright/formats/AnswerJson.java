package dev.pipewright.formats;

import static dev.pipewright.formats.json.JsonText.pair;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.schedule.JitterJson;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.trace.RankMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes the answer of {@code plan --json}: one object, seconds and bytes as plain numbers. {@link
 * PlanJson} reads the plan back. Where nothing fits, {@code plan} and the figures of it are null.
 */
public final class AnswerJson {
  /**
   * What an answer says in addition to the planning itself.
   *
   * @param madeFor model and cluster as the user named them
   * @param provenance where the model's times come from
   * @param planningSeconds how long the search took
   * @param simulated what the simulator says of the best plan, where it was asked
   * @param reasons for the best plan
   */
  public record Context(
      MadeFor madeFor,
      String provenance,
      double planningSeconds,
      Optional<Simulated> simulated,
      Reasons reasons) {}

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
    Map<String, Object> object = context.madeFor().object(planning.planner());
    object.put("cost_model", planning.costModel());
    object.put("profile", context.provenance());
    object.put("objective", objective(planning));
    object.put(
        "lower_bound",
        pair("value", planning.lowerBound().value(), "why", planning.lowerBound().why()));
    if (!Double.isNaN(planning.serialSeconds())) {
      object.put("speedup", planning.speedUp());
    }
    object.put("planning_s", context.planningSeconds());
    object.put("plan", best.map(b -> plan(b.plan(), b.estimate())));
    object.put("simulated", context.simulated().map(AnswerJson::simulated));
    object.put("why", why(planning, context.reasons()));
    object.put("candidates", planning.candidates().stream().map(AnswerJson::candidate).toList());
    object.put("search", search(planning.search()));
    return object;
  }

  /**
   * The objective: for a step the cost model's time, which ranks plans; for memory also what would
   * not fit.
   */
  private static Map<String, Object> objective(Planning planning) {
    double value =
        planning.objective() == Objective.STEP_TIME
            ? planning.best().map(best -> best.estimate().stepSeconds()).orElse(Double.NaN)
            : planning.value();
    return pair("name", planning.objective().key(), "value", value);
  }

  private static Map<String, Object> plan(PipelinePlan plan, Assessment estimate) {
    List<Map<String, Object>> stages = new ArrayList<>();
    for (int i = 0; i < plan.stages().size(); i++) {
      Map<String, Object> stage = PlanJson.object(plan.stages().get(i));
      if (i < estimate.stages().size()) {
        int replicas = plan.stages().get(i).replicas();
        stage.put("micro_batch_per_rank", StageCosts.slice(plan.microBatching(), replicas));
        putFigures(stage, estimate.stages().get(i), estimate.memory().get(i));
      }
      stages.add(stage);
    }
    return PlanJson.object(plan, stages);
  }

  private static void putFigures(Map<String, Object> stage, StageCost cost, PeakMemory memory) {
    stage.put("forward_s", cost.forwardSeconds());
    stage.put("backward_s", cost.backwardSeconds());
    stage.put("send_s", cost.sendSeconds());
    stage.put("return_s", cost.returnSeconds());
    stage.put("allreduce_s", cost.allReduceSeconds());
    stage.put("exposed_allreduce_s", cost.exposedAllReduceSeconds());
    stage.put("update_s", cost.updateSeconds());
    StageMemoryJson.put(stage, memory);
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

  private static Map<String, Object> why(Planning planning, Reasons reasons) {
    Optional<Map<String, Object>> runnerUp =
        planning
            .best()
            .flatMap(best -> planning.runnerUp().map(rival -> runnerUp(planning, rival)));
    Map<String, Object> why = pair("binding", planning.binding(), "runner_up", runnerUp);
    if (planning.objective() != Objective.STEP_TIME) {
      why.put("gap", planning.gap());
    }
    why.putAll(ReasonsJson.object(reasons));
    return why;
  }

  /** The gap is how much larger the rival's objective is, as a share of the best's. */
  private static Map<String, Object> runnerUp(Planning planning, Candidate rival) {
    double value = planning.objective().of(rival);
    Map<String, Object> object = pair("kind", rival.kind(), "plan", rival.plan().summary());
    object.put("seconds", rival.seconds());
    object.put("peak_bytes", Math.round(rival.peakBytes()));
    object.put("gap", value / planning.value() - 1);
    return object;
  }

  private static Map<String, Object> candidate(Candidate candidate) {
    Map<String, Object> object =
        pair("kind", candidate.kind(), "summary", candidate.plan().summary());
    PlanDegreesJson.put(object, candidate.plan());
    object.put("schedule", candidate.plan().spec().scheduleName());
    object.put("micro_batches", candidate.plan().microBatches());
    object.put("micro_batch", candidate.plan().microBatch());
    object.put("estimate_s", candidate.estimate().stepSeconds());
    candidate.simulated().ifPresent(s -> object.put("simulated_s", s.stepSeconds()));
    candidate.p95().ifPresent(seconds -> object.put("p95_s", seconds));
    object.put("peak_bytes", Math.round(candidate.peakBytes()));
    return object;
  }

  private static Map<String, Object> search(Planning.Search search) {
    Map<String, Object> object = pair("exhaustive", search.exhaustive(), "labels", search.labels());
    object.put("space", search.space());
    return object;
  }
}

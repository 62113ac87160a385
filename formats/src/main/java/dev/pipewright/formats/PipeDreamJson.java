package dev.pipewright.formats;

import static dev.pipewright.formats.json.JsonText.pair;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.planner.pipedream.PipeDreamPlanner;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.RunnerUp;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.Stage;
import dev.pipewright.schedule.PipeDream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Writes the answer of {@code plan --planner pipedream --json}: one object, seconds as plain
 * numbers. {@link AsynchronousJson} reads the plan back, which says as many micro-batches as are
 * under way at once, each a whole mini-batch, since the pipeline never flushes.
 */
public final class PipeDreamJson {
  /**
   * What an answer says in addition to the planning itself.
   *
   * @param madeFor model and cluster as the user named them
   * @param provenance where its times come from
   * @param levels of the cluster, innermost first
   * @param chargesTransfers whether activations cost time at the cuts
   * @param miniBatch samples of a mini-batch, where they are known
   * @param forwardSeconds of all layers up to each position, for a mini-batch on one device
   * @param planningSeconds how long the search took
   */
  public record Context(
      MadeFor madeFor,
      String provenance,
      List<BandwidthLevel> levels,
      boolean chargesTransfers,
      OptionalInt miniBatch,
      List<Double> forwardSeconds,
      double planningSeconds) {
    public Context {
      levels = List.copyOf(levels);
      forwardSeconds = List.copyOf(forwardSeconds);
    }

    /** This context with a model and a cluster that other folders can find. */
    public Context withMadeFor(MadeFor other) {
      return new Context(
          other, provenance, levels, chargesTransfers, miniBatch, forwardSeconds, planningSeconds);
    }
  }

  private PipeDreamJson() {}

  /**
   * The answer as JSON text that ends with a line feed.
   *
   * @param stages as they run: what each recomputes, which the planner does not know of
   * @param memory of each stage as it runs
   * @param simulated the plan as it runs; empty where that would take too long
   * @param oneDeviceSeconds one device doing everything, its update included
   */
  public static String text(
      PipeDreamPlanning planning,
      Context context,
      List<StagePlan> stages,
      List<StageMemory> memory,
      Optional<SteadyFigures> simulated,
      double oneDeviceSeconds) {
    Map<String, Object> object = context.madeFor.object(PipeDreamPlanner.NAME);
    object.put("levels", context.levels.stream().map(BandwidthLevel::units).toList());
    object.put("bandwidths", context.levels.stream().map(BandwidthLevel::bytesPerSecond).toList());
    object.put("activation_transfer", context.chargesTransfers);
    object.put("profile", context.provenance);
    object.put("objective", pair("name", "minibatch_s", "value", planning.seconds()));
    object.put(
        "lower_bound",
        pair("value", planning.lowerBound().value(), "why", planning.lowerBound().why()));
    double seconds = simulated.map(SteadyFigures::seconds).orElse(planning.seconds());
    object.put("speedup", oneDeviceSeconds / seconds);
    object.put("planning_s", context.planningSeconds);
    object.put("plan", plan(planning, context, stages, memory));
    object.put("simulated", simulated.map(SteadyFigures::object));
    object.put(
        "why",
        pair(
            "binding",
            planning.binding(),
            "runner_up",
            planning.runnerUp().map(rival -> runnerUp(rival, planning.seconds()))));
    object.put(
        "candidates",
        List.of(
            candidate("data parallel", planning.dataParallelSeconds(), planning),
            oneDevice(planning.singleDeviceSeconds(), oneDeviceSeconds, seconds)));
    object.put("search", pair("exhaustive", planning.complete(), "states", planning.states()));
    return JsonText.of(object);
  }

  private static Map<String, Object> plan(
      PipeDreamPlanning planning,
      Context context,
      List<StagePlan> running,
      List<StageMemory> memory) {
    Map<String, Object> plan = new LinkedHashMap<>();
    plan.put("schedule", PipeDream.NAME);
    plan.put("micro_batches", planning.inFlight());
    plan.put("micro_batch", context.miniBatch.orElse(1));
    plan.put("replicas", 1);
    List<Map<String, Object>> stages = new ArrayList<>();
    for (Stage stage : planning.stages()) {
      Map<String, Object> object = stage(stage, context.forwardSeconds);
      object.put("recompute", running.get(stages.size()).recompute().word());
      StageMemoryJson.put(object, memory.get(stages.size()).device());
      if (context.madeFor.cluster().isEmpty()) {
        object.remove("capacity_bytes"); // levels say nothing of devices
      }
      stages.add(object);
    }
    plan.put("stages", stages);
    return plan;
  }

  private static Map<String, Object> stage(Stage stage, List<Double> forwardSeconds) {
    int first = stage.firstLayer();
    double before = first == 0 ? 0 : forwardSeconds.get(first - 1);
    double forward = forwardSeconds.get(stage.lastLayer()) - before;
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("layers", List.of(first, stage.lastLayer()));
    object.put("devices", stage.devices());
    object.put("in_flight", stage.inFlight());
    object.put("recompute", "none");
    object.put("replicas_by_level", stage.replicas());
    object.put("forward_s", forward);
    object.put("backward_s", stage.computeSeconds() - forward);
    object.put(
        "allreduce_s",
        Math.max(0, stage.seconds() - stage.computeSeconds() / stage.devices().size()));
    object.put("minibatch_s", stage.seconds());
    return object;
  }

  private static Map<String, Object> runnerUp(RunnerUp rival, double best) {
    Map<String, Object> object =
        pair("kind", "other last stage", "last_stage_devices", rival.lastStageDevices());
    object.put("seconds", rival.seconds());
    object.put("gap", rival.seconds() / best - 1);
    return object;
  }

  private static Map<String, Object> oneDevice(double estimate, double all, double seconds) {
    Map<String, Object> object = pair("kind", "one device", "estimate_s", estimate);
    object.put("simulated_s", all);
    object.put("gap", all / seconds - 1);
    return object;
  }

  private static Map<String, Object> candidate(
      String kind, double seconds, PipeDreamPlanning planning) {
    Map<String, Object> object = pair("kind", kind, "estimate_s", seconds);
    object.put("gap", seconds / planning.seconds() - 1);
    return object;
  }
}

package dev.pipewright.formats;

import static dev.pipewright.formats.json.JsonText.pair;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanner;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Candidate;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Stage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes the answer of {@code plan --planner pipedream-2bw --json}: one object, seconds and bytes
 * as plain numbers. {@link AsynchronousJson} reads the plan back.
 */
public final class PipeDream2bwJson {
  /** Candidates that an answer lists. */
  private static final int MOST_CANDIDATES = 16;

  /**
   * What an answer says in addition to the planning itself.
   *
   * @param madeFor model and cluster as the user named them
   * @param provenance where the model's times come from
   * @param capacityBytes of each device
   * @param forward seconds of a forward pass of a micro-batch over all layers up to each position,
   *     by its samples
   * @param planningSeconds how long the search took
   */
  public record Context(
      MadeFor madeFor,
      String provenance,
      double capacityBytes,
      ForwardSeconds forward,
      double planningSeconds) {
    /** This context with a model and a cluster that other folders can find. */
    public Context withMadeFor(MadeFor other) {
      return new Context(other, provenance, capacityBytes, forward, planningSeconds);
    }
  }

  /** Seconds of a forward pass, cumulative by position of the chain. */
  public interface ForwardSeconds {
    double[] of(int samples);
  }

  private PipeDream2bwJson() {}

  /**
   * The answer as JSON text that ends with a line feed; without a plan where nothing fits.
   *
   * @param memory of each stage; none where there is no plan
   * @param simulated the plan as it runs; empty where there is none, or that would take too long
   * @param oneDeviceSeconds one device doing everything, its update included
   */
  public static String text(
      PipeDream2bwPlanning planning,
      Context context,
      List<StageMemory> memory,
      Optional<SteadyFigures> simulated,
      double oneDeviceSeconds) {
    Optional<Candidate> best = planning.best();
    Map<String, Object> object = context.madeFor.object(PipeDream2bwPlanner.NAME);
    object.put("profile", context.provenance);
    object.put("objective", pair("name", "minibatch_s", "value", best.map(Candidate::seconds)));
    object.put(
        "lower_bound",
        pair("value", planning.lowerBound().value(), "why", planning.lowerBound().why()));
    object.put(
        "speedup",
        best.map(plan ->
            oneDeviceSeconds / simulated.map(SteadyFigures::seconds).orElse(plan.seconds())));
    object.put("planning_s", context.planningSeconds);
    object.put("plan", best.map(plan -> plan(plan, context, memory)));
    object.put("simulated", simulated.map(SteadyFigures::object));
    object.put(
        "why",
        pair(
            "binding",
            best.map(Candidate::binding).orElse("memory"),
            "runner_up",
            planning.runnerUp().map(rival -> candidate(rival, best.orElseThrow()))));
    object.put(
        "candidates",
        planning.candidates().stream()
            .limit(MOST_CANDIDATES)
            .map(rival -> candidate(rival, best.orElseThrow()))
            .toList());
    object.put(
        "search", pair("exhaustive", planning.complete(), "fitting", planning.candidates().size()));
    return JsonText.of(object);
  }

  private static Map<String, Object> plan(
      Candidate plan, Context context, List<StageMemory> memory) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("schedule", Rule.TWO_BUFFERS.schedule());
    object.put("micro_batches", plan.microBatches());
    object.put("micro_batch", plan.microBatch());
    object.put("replicas", plan.width());
    double[] forward = context.forward.of(plan.microBatch());
    List<Map<String, Object>> stages = new ArrayList<>();
    for (Stage stage : plan.stages()) {
      stages.add(stage(plan, stage, forward, memory.get(stages.size())));
    }
    object.put("stages", stages);
    return object;
  }

  private static Map<String, Object> stage(
      Candidate plan, Stage stage, double[] forwardSeconds, StageMemory memory) {
    int first = stage.firstLayer();
    double forward =
        forwardSeconds[stage.lastLayer()] - (first == 0 ? 0 : forwardSeconds[first - 1]);
    Recompute recompute = plan.recompute() ? Recompute.STAGE_INPUT : Recompute.NONE;
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("layers", List.of(first, stage.lastLayer()));
    object.put("devices", stage.devices());
    object.put("in_flight", stage.inFlight());
    object.put("recompute", recompute.word());
    object.put("forward_s", forward);
    object.put("backward_s", stage.computeSeconds() - forward);
    object.put("transfer_s", stage.transferSeconds());
    object.put("allreduce_s", stage.exchangeSeconds());
    StageMemoryJson.put(object, memory.device());
    return object;
  }

  private static Map<String, Object> candidate(Candidate rival, Candidate best) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("kind", rival.recompute() ? "recomputing" : "keeping activations");
    object.put("replicas", rival.width());
    object.put("stages", rival.depth());
    object.put("micro_batch", rival.microBatch());
    object.put("micro_batches", rival.microBatches());
    object.put("seconds", rival.seconds());
    object.put("gap", rival.seconds() / best.seconds() - 1);
    object.put("memory_bytes", Math.round(rival.peakBytes()));
    return object;
  }
}

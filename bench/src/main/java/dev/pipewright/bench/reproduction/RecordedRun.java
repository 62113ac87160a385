package dev.pipewright.bench.reproduction;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * A recorded answer of the planner of DAPPLE's authors.
 *
 * @param profile the profile that it planned for
 * @param cluster the same cluster among ours
 * @param plan its plan as ours
 * @param latency its score, in seconds
 * @param wall how long it took, in seconds: the median on an idle machine
 */
public record RecordedRun(
    String tag,
    String profile,
    String cluster,
    int globalBatch,
    int microBatch,
    PipelinePlan plan,
    double latency,
    double wall) {

  static RecordedRun of(JsonNode run) {
    String input = run.path("input").asString();
    int globalBatch = run.path("global_batch").asInt();
    int microBatch = run.path("min_micro_batch").asInt();
    int copies = run.path("rp").asInt();
    int machines = run.path("cluster").path("seps").size();
    return new RecordedRun(
        run.path("tag").asString(),
        input.substring(0, input.length() - ".txt".length()),
        machines == 2 ? "dapple-a" : "dapple-b",
        globalBatch,
        microBatch,
        plan(
            run.path("plan_stages_start_end_repl_gids"),
            globalBatch / copies / microBatch,
            microBatch,
            copies),
        run.path("objective_latency_s").asDouble(),
        run.path("wall_median_s").asDouble());
  }

  private static PipelinePlan plan(
      JsonNode recorded, int microBatches, int microBatch, int copies) {
    List<StagePlan> stages = new ArrayList<>();
    for (int s = 0; s < recorded.size(); s++) {
      JsonNode stage = recorded.get(s);
      List<Integer> devices = new ArrayList<>();
      for (JsonNode device : stage.get(3)) {
        devices.add(device.asInt());
      }
      boolean last = s == recorded.size() - 1; // ends with the last state instead of before it
      int end = stage.get(1).asInt() + (last ? 1 : 0);
      int inFlight = PipelinePolicy.A.inFlightOf(recorded.size() - 1 - s, microBatches);
      stages.add(new StagePlan(stage.get(0).asInt(), end - 1, devices, Recompute.NONE, inFlight));
    }
    return new PipelinePlan(PipelinePolicy.A, microBatches, microBatch, copies, false, stages);
  }

  /** The tag without what all tags have, for tables. */
  public String label() {
    return tag.replaceFirst("-pbs-\\d+", "").replace("__", " ").replace('_', ' ');
  }
}

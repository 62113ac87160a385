package dev.pipewright.formats;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes the answer of {@code plan --front --json}: one object, seconds and bytes as numbers. */
public final class FrontJson {
  private FrontJson() {}

  /**
   * The front as JSON text that ends with a line feed.
   *
   * @param madeFor model and cluster as the user named them
   * @param planning one of the searches
   * @param points of the front, in its order
   * @param searches that were made
   * @param seconds that they took
   */
  public static String text(
      MadeFor madeFor, Planning planning, List<Candidate> points, int searches, double seconds) {
    Map<String, Object> object = madeFor.object(planning.planner());
    object.put("cost_model", planning.costModel());
    object.put("searches", searches);
    object.put("planning_s", seconds);
    object.put("front", points.stream().map(FrontJson::object).toList());
    return JsonText.of(object);
  }

  private static Map<String, Object> object(Candidate point) {
    PipelinePlan plan = point.plan();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("devices", plan.devices());
    object.put("step_s", point.seconds());
    object.put("estimate_s", point.estimate().stepSeconds());
    object.put("peak_bytes", Math.round(point.peakBytes()));
    object.put("kind", point.kind());
    object.put("summary", plan.summary());
    object.put(
        "recomputes",
        plan.stages().stream().anyMatch(stage -> stage.recompute() != Recompute.NONE));
    object.put("plan", PlanJson.object(plan));
    return object;
  }
}

package dev.pipewright.formats;

import static dev.pipewright.formats.json.JsonText.pair;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorPlacement;
import dev.pipewright.planner.placement.OperatorPlacement.Device;
import dev.pipewright.planner.placement.PlacementResult.Alternative;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes the answer of {@code plan --planner placement --json}: one object. Loads are in the time
 * unit of the workload; nodes go by their ids.
 */
public final class PlacementAnswerJson {
  private PlacementAnswerJson() {}

  /**
   * The answer as JSON text that ends with a line feed.
   *
   * @param answer none where nothing was found
   * @param model as the user named it
   * @param contiguous whether every device holds a contiguous set
   */
  public static String text(
      OperatorGraph graph,
      Optional<Placed> answer,
      String model,
      boolean contiguous,
      double planningSeconds) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", "placement");
    object.put("model", model);
    Map<String, Object> devices = new LinkedHashMap<>();
    devices.put("fpgas", graph.devices().accelerators());
    devices.put("cpus", graph.devices().processors());
    devices.put("memory_bytes", graph.devices().acceleratorBytes());
    object.put("devices", devices);
    Map<String, Object> objective = new LinkedHashMap<>();
    objective.put("name", "max_load");
    objective.put("value", answer.map(placed -> placed.best().maxLoad()));
    object.put("objective", objective);
    object.put("lower_bound", answer.map(PlacementAnswerJson::bound));
    object.put("gap", answer.map(Placed::gap));
    object.put("planning_s", planningSeconds);
    object.put("plan", answer.map(placed -> plan(graph, placed.best(), contiguous)));
    object.put("simulated", Optional.empty());
    object.put("why", answer.map(PlacementAnswerJson::why));
    List<Object> candidates = new ArrayList<>();
    answer.ifPresent(
        placed -> placed.alternatives().forEach(other -> candidates.add(alternative(other))));
    object.put("candidates", candidates);
    object.put("search", answer.map(PlacementAnswerJson::search));
    return JsonText.of(object);
  }

  private static Map<String, Object> bound(Placed placed) {
    return pair("value", placed.bound().value(), "why", placed.bound().why());
  }

  private static Map<String, Object> plan(
      OperatorGraph graph, OperatorPlacement placement, boolean contiguous) {
    List<Object> stages = new ArrayList<>();
    for (int stage = 0; stage < placement.devices().size(); stage++) {
      stages.add(stage(graph, placement.devices().get(stage), stage));
    }
    return pair("contiguous", contiguous, "stages", stages);
  }

  private static Map<String, Object> stage(OperatorGraph graph, Device device, int number) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("devices", List.of(number));
    object.put("kind", device.processor() ? "cpu" : "fpga");
    object.put("load", device.load());
    object.put("compute", device.compute());
    object.put("transfers", device.transfers());
    object.put("memory_bytes", device.bytes());
    object.put("nodes", device.operators().stream().map(i -> graph.operator(i).id()).toList());
    object.put("names", device.operators().stream().map(i -> graph.operator(i).name()).toList());
    return object;
  }

  private static Map<String, Object> why(Placed placed) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("binding", placed.binding());
    Optional<Map<String, Object>> second =
        placed.alternatives().stream()
            .findFirst()
            .map(other -> {
              Map<String, Object> rival = alternative(other);
              rival.put("gap", other.maxLoad() / placed.best().maxLoad() - 1);
              return rival;
            });
    object.put("runner_up", second);
    return object;
  }

  private static Map<String, Object> alternative(Alternative other) {
    return pair("kind", other.kind(), "max_load", other.maxLoad());
  }

  private static Map<String, Object> search(Placed placed) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("exhaustive", placed.proven());
    object.put("space", placed.searched());
    object.put("ideals", placed.ideals());
    object.put("pairs", placed.pairs());
    return object;
  }
}

package dev.pipewright.app.cli.given;

import dev.pipewright.formats.problem.Costed;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** How {@code simulate --json} begins: which plan ran, and how long what it is about took. */
public final class SimulationJson {
  private SimulationJson() {}

  /**
   * Of a plan for a network on a cluster.
   *
   * @param objective what the seconds are of
   * @param expected seconds that the plan's file says it would take
   */
  static Map<String, Object> head(
      Costed costed, String schedule, String objective, double seconds, OptionalDouble expected) {
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("name", objective);
    value.put("value", seconds);
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", "given");
    object.put("model", costed.model());
    object.put("cluster", costed.cluster());
    object.put("schedule", schedule);
    object.put("objective", value);
    object.put(
        "expected_s",
        expected.isPresent() ? Optional.of(expected.getAsDouble()) : Optional.empty());
    return object;
  }
}

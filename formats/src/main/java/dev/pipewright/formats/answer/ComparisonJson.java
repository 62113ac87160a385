package dev.pipewright.formats.answer;

import dev.pipewright.compare.Comparison;
import dev.pipewright.compare.Comparison.Item;
import dev.pipewright.compare.Comparison.Scope;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.formats.json.JsonText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The answer of {@code compare --json}. */
public final class ComparisonJson {
  private ComparisonJson() {}

  /**
   * The answer as one object.
   *
   * @param figures of the measured step
   */
  public static String text(
      TrainingRequest request, Comparison comparison, TrainingFigures figures) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("model", request.model());
    object.put("workers", request.assignment().size());
    object.put("schedule", request.assignment().schedule().name());
    object.put("global_batch", request.assignment().batch());
    TrainingFiguresJson.members(figures).forEach(object::putIfAbsent);
    object.put("emulated", request.emulates());
    Item step = comparison.step();
    object.put("predicted", Map.of("step_s", step.predicted()));
    object.put("simulated", Map.of("step_s", step.simulated()));
    object.put("measured", Map.of("step_s", step.measured()));
    object.put("stolen_share", comparison.stolen().share());
    for (Scope scope : Scope.values()) {
      List<Map<String, Object>> items = new ArrayList<>();
      for (Item item : comparison.items()) {
        if (item.scope() == scope) {
          items.add(item(item));
        }
      }
      object.put(scope.name().toLowerCase(Locale.ROOT), items);
    }
    return JsonText.of(object);
  }

  private static Map<String, Object> item(Item item) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", item.name());
    object.put("predicted", item.predicted());
    object.put("simulated", item.simulated());
    object.put("measured", item.measured());
    object.put("predicted_error", item.predictedError());
    object.put("simulated_error", item.simulatedError());
    return object;
  }
}

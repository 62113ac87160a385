package dev.pipewright.formats;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import java.util.List;
import java.util.Map;

/**
 * How a plan divides training, as numbers under the names of {@code predict}'s layouts: {@code
 * pipeline} ranks, {@code stages} on all of them, and for each stage {@code data}, {@code tensor},
 * {@code context} and {@code expert}. A degree in which stages differ is left out, and where
 * filters, channels or images are divided, {@code tensor} is.
 */
final class PlanDegreesJson {
  private PlanDegreesJson() {}

  static void put(Map<String, Object> object, PipelinePlan plan) {
    object.put("pipeline", plan.placement().ranks());
    object.put("stages", plan.stages().size());
    putAlike(object, "data", plan.stages().stream().map(StagePlan::replicas).toList());
    List<Parallelism> divided = plan.stages().stream().map(StagePlan::parallelism).toList();
    if (divided.stream().allMatch(PlanDegreesJson::isOfTransformers)) {
      putAlike(object, "tensor", divided.stream().map(Parallelism::featureParts).toList());
    }
    putAlike(object, "context", divided.stream().map(Parallelism::tokenParts).toList());
    putAlike(object, "expert", divided.stream().map(Parallelism::expertParts).toList());
  }

  private static void putAlike(Map<String, Object> object, String name, List<Integer> degrees) {
    if (degrees.stream().distinct().count() == 1) {
      object.put(name, degrees.get(0));
    }
  }

  private static boolean isOfTransformers(Parallelism parallelism) {
    return !parallelism.several() || parallelism.dividesFeatures() || parallelism.dividesTokens();
  }
}

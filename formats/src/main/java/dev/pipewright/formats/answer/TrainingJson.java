package dev.pipewright.formats.answer;

import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.LossWatch;
import dev.pipewright.execution.StepResult;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.predict.run.RunPrediction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The answer of {@code train --json}. */
public final class TrainingJson {
  private TrainingJson() {}

  public static String text(
      TrainingRequest request, TrainingOutcome outcome, Optional<RunPrediction> runPrediction) {
    List<StepResult> steps = outcome.steps();
    StepResult last = steps.get(steps.size() - 1);
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("model", request.model());
    object.put("workers", request.assignment().size());
    object.put("schedule", request.assignment().schedule().name());
    object.put("global_batch", request.assignment().batch());
    object.put("optimizer", optimizer(request.learning().rule()));
    object.put("steps", steps.size());
    object.put("loss", Map.of("first", steps.get(0).loss(), "last", last.loss()));
    List<String> warnings = LossWatch.of(request.learning().rule().rate(), steps);
    if (!warnings.isEmpty()) {
      object.put("warnings", warnings);
    }
    if (!outcome.heldOut().isEmpty()) {
      object.put("held_out", outcome.heldOut().stream().map(TrainingJson::heldOut).toList());
    }
    outcome.checkpoint().ifPresent(folder -> object.put("checkpoint", folder));
    if (outcome.stopped()) {
      object.put("stopped", true);
    }
    runPrediction.ifPresent(expected -> {
      object.put("predicted", Map.of("step_s", expected.predictedStepSeconds()));
      object.put("simulated", Map.of("step_s", expected.simulatedStepSeconds()));
    });
    Map<String, Object> measured = new LinkedHashMap<>();
    measured.put("step_s", outcome.typical().seconds());
    measured.put("samples_per_s", last.samples() / outcome.typical().seconds());
    measured.put("idle_share", last.idleShare());
    measured.put("stolen_share", outcome.stolen().share());
    measured.put(
        "peak_bytes", outcome.workers().stream().map(TrainingOutcome.Worker::peakBytes).toList());
    object.put("measured", measured);
    return JsonText.of(object);
  }

  private static Map<String, Object> optimizer(UpdateRule rule) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", rule.kind().name().toLowerCase(Locale.ROOT));
    object.put("learning_rate", rule.rate());
    object.put("momentum", rule.momentum());
    object.put("weight_decay", rule.decay());
    return object;
  }

  private static Map<String, Object> heldOut(HeldOutResult result) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("steps", result.step() + 1);
    object.put("loss", result.loss());
    if (Double.isFinite(result.correct())) {
      object.put("accuracy", result.correct());
    }
    return object;
  }
}

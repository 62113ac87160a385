package dev.pipewright.formats.answer;

import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.predict.paradl.Finding;
import dev.pipewright.predict.paradl.MemoryUse;
import dev.pipewright.predict.paradl.Phase;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.ScalingLimit;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.predict.paradl.Study.Crossover;
import dev.pipewright.predict.paradl.Study.Sensitivity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes the answer of {@code predict --json}: one row for each strategy and number of devices,
 * seconds and bytes as plain numbers. A strategy that cannot use so many devices has a row without
 * times that says why.
 */
public final class StudyJson {
  private StudyJson() {}

  /**
   * The answer as one object.
   *
   * @param model as the user named it
   * @param cluster as the user named it
   * @param provenance where the model's times come from
   * @param workload what is trained on what
   */
  public static String text(
      Study study, String model, String cluster, String provenance, Workload workload) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("model", model);
    object.put("cluster", cluster);
    object.put("profile", provenance);
    object.put("optimizer", EnumWords.word(workload.training().optimizer()));
    object.put("precision", workload.training().precision().word());
    workload.cluster().reserve().ifPresent(share -> object.put("memory_reserve", share));
    object.put("rows", study.predictions().stream().map(row -> row(row, workload)).toList());
    object.put("ranking", study.devices().stream().map(n -> ranking(study, n)).toList());
    object.put("recommendation", study.recommended().map(StudyJson::recommendation));
    object.put("crossovers", study.crossovers().stream().map(StudyJson::crossover).toList());
    object.put("sensitivity", study.sensitivities().stream().map(StudyJson::sensitivity).toList());
    object.put("assumed", Study.ASSUMED);
    return JsonText.of(object);
  }

  private static Map<String, Object> row(Prediction prediction, Workload workload) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("strategy", prediction.strategy().label());
    row.put("devices", prediction.devices());
    row.put("global_batch", prediction.globalBatch());
    switch (prediction) {
      case Predicted predicted -> figures(row, predicted, workload);
      case Impossible impossible -> {
        row.put("iteration_s", Optional.empty());
        row.put("fits", false);
        row.put("why_not", impossible.why());
      }
    }
    row.put("limits", prediction.limits().stream().map(StudyJson::limit).toList());
    if (prediction instanceof Predicted predicted) {
      row.put(
          "bottlenecks", predicted.findings().stream().map(f -> f.bottleneck().label()).toList());
      row.put("findings", predicted.findings().stream().map(StudyJson::finding).toList());
    }
    return row;
  }

  private static void figures(Map<String, Object> row, Predicted predicted, Workload workload) {
    row.put("layout", predicted.layout().toString());
    row.put("micro_batch_per_rank", predicted.microBatchPerRank());
    row.put("iteration_s", predicted.iterationSeconds());
    predicted.epochSeconds().ifPresent(seconds -> row.put("epoch_s", seconds));
    TrainingFiguresJson.put(
        row, Throughput.of(workload, predicted.samplesPerSecond(), predicted.devices()));
    row.put("compute_s", predicted.phases().compute());
    row.put("communication_s", predicted.phases().communication());
    Map<String, Object> phases = new LinkedHashMap<>();
    for (Phase phase : Phase.values()) {
      phases.put(phase.key(), predicted.phases().seconds(phase));
    }
    row.put("phases", phases);
    MemoryUse use = predicted.memory();
    row.put("memory_bytes", Math.round(use.total()));
    Map<String, Object> memory = new LinkedHashMap<>();
    memory.put("weights_bytes", Math.round(use.weights()));
    memory.put("gradients_bytes", Math.round(use.gradients()));
    memory.put("optimizer_bytes", Math.round(use.optimizer()));
    memory.put("activations_bytes", Math.round(use.activations()));
    memory.put("buffers_bytes", Math.round(use.buffers()));
    row.put("memory", memory);
    row.put("capacity_bytes", Math.round(predicted.capacity()));
    row.put("fits", predicted.fits());
    predicted.plan().ifPresent(plan -> row.put("plan", PlanJson.object(plan)));
  }

  private static Map<String, Object> limit(ScalingLimit limit) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("kind", limit.kind());
    object.put("max_devices", limit.devices());
    object.put("why", limit.why());
    return object;
  }

  private static Map<String, Object> finding(Finding finding) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("bottleneck", finding.bottleneck().label());
    object.put("number", finding.number());
    object.put("what", finding.sentence());
    object.put("help", finding.help());
    return object;
  }

  private static Map<String, Object> ranking(Study study, int devices) {
    List<String> order = new ArrayList<>();
    for (Predicted predicted : study.ranking(devices)) {
      order.add(predicted.strategy().label());
    }
    return JsonText.pair("devices", devices, "strategies", order);
  }

  private static Map<String, Object> recommendation(Predicted best) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("strategy", best.strategy().label());
    object.put("devices", best.devices());
    object.put("samples_per_s", best.samplesPerSecond());
    return object;
  }

  private static Map<String, Object> crossover(Crossover crossover) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("devices", crossover.devices());
    object.put("before", crossover.before().map(Strategy::label));
    object.put("after", crossover.after().label());
    object.put("gain", crossover.gain());
    return object;
  }

  private static Map<String, Object> sensitivity(Sensitivity sensitivity) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("resource", sensitivity.resource().label());
    object.put("factor", sensitivity.factor());
    object.put("choice", sensitivity.choice().map(Strategy::label));
    object.put("samples_per_s", sensitivity.samplesPerSecond());
    object.put("changes", sensitivity.changes());
    return object;
  }
}

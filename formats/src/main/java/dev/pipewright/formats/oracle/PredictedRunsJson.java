package dev.pipewright.formats.oracle;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingCost;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes predicted runs of one transformer, a row for each number of devices. */
public final class PredictedRunsJson {
  private PredictedRunsJson() {}

  /** A run as it was chosen, and what it takes. */
  public record Row(RunChoices choices, PredictedRun predicted, TrainingCost cost) {}

  /** One object; seconds and bytes are plain numbers. */
  public static String text(String model, String cluster, List<Row> rows) {
    RunChoices choices = rows.get(0).choices();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("model", model);
    object.put("cluster", cluster);
    object.put("framework", choices.framework().word());
    object.put("precision", choices.precision().word());
    object.put("optimizer", "adam");
    object.put("attention", choices.fusedAttention() ? "fused" : "standard");
    object.put("sequence", choices.shape().sequence());
    object.put("parameters", choices.shape().parameters());
    object.put("active_parameters", choices.shape().activeParameters());
    object.put("rows", rows.stream().map(PredictedRunsJson::row).toList());
    return JsonText.of(object);
  }

  private static Map<String, Object> row(Row row) {
    PredictedRun predicted = row.predicted();
    Map<String, Object> members = layout(predicted.run().layout());
    row.choices().schedule().ifPresent(schedule -> members.put("schedule", schedule));
    step(members, predicted);
    row.cost()
        .tokens()
        .ifPresent(tokens -> {
          members.put("tokens", tokens);
          members.put("days", predicted.days(tokens));
          members.put("device_hours", predicted.deviceHours(tokens));
        });
    row.cost().price(predicted).ifPresent(price -> members.put("price", price));
    members.put("stages", stages(predicted));
    return members;
  }

  /** Adds what a step takes, and rates that follow from it. */
  static void step(Map<String, Object> members, PredictedRun predicted) {
    TransformerRun run = predicted.run();
    members.putAll(StepMembers.of(predicted.step()));
    members.put("capacity_bytes", Math.round(run.machine().usableBytes()));
    members.put("samples_per_s", run.layout().globalBatch() / predicted.step().iterationSeconds());
    members.put("tokens_per_s", predicted.tokensPerSecond());
    members.put("tokens_per_s_per_device", predicted.tokensPerSecondAndDevice());
    members.put("tflops_per_device", predicted.flopsPerDevice() / 1e12);
    members.put("mfu", predicted.utilization());
  }

  /** Degrees and batches. */
  static Map<String, Object> layout(TrainingLayout layout) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("strategy", layout.strategy());
    members.put("devices", layout.devices());
    members.put("global_batch", layout.globalBatch());
    members.put("micro_batch_per_rank", layout.microBatch());
    members.put("micro_batches", layout.microBatches());
    members.put("tensor", layout.tensor());
    members.put("pipeline", layout.pipeline());
    members.put("data", layout.data());
    members.put("context", layout.context());
    members.put("expert", layout.expert());
    members.put("interleave", layout.interleave());
    members.put("sequence_parallel", layout.sequenceParallel());
    members.put("zero", layout.zero());
    if (layout.zero() >= 2 && layout.pipeline() > 1) {
      members.put("reshard", layout.reshard() ? "always" : "never");
    }
    return members;
  }

  /** What each pipeline rank holds: its chunks' layers and its bytes. */
  private static List<Map<String, Object>> stages(PredictedRun predicted) {
    StageSplit split = predicted.run().split();
    List<Map<String, Object>> stages = new ArrayList<>();
    for (int rank = 0; rank < split.ranks(); rank++) {
      List<Integer> layers = new ArrayList<>();
      for (int chunk = 0; chunk < split.chunks().size(); chunk++) {
        if (split.rank(chunk) == rank) {
          layers.add(split.chunks().get(chunk).layers());
        }
      }
      Map<String, Object> stage = new LinkedHashMap<>();
      stage.put("rank", rank);
      stage.put("layers", layers);
      stage.put("memory_bytes", Math.round(predicted.step().ranks().get(rank).total()));
      stage.put("memory", StepMembers.memory(predicted.step().ranks().get(rank)));
      stages.add(stage);
    }
    return stages;
  }
}

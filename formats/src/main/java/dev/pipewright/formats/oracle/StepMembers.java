package dev.pipewright.formats.oracle;

import dev.pipewright.predict.transformer.PassSeconds;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A predicted step of a transformer as members of an object; seconds and bytes are plain. */
final class StepMembers {
  private StepMembers() {}

  static Map<String, Object> of(TransformerPrediction predicted) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("iteration_s", predicted.iterationSeconds());
    members.put("interval_s", List.of(predicted.shortestSeconds(), predicted.longestSeconds()));
    members.put("calibration", predicted.coverage().name().toLowerCase(Locale.ROOT));
    members.put("memory_bytes", Math.round(predicted.worst().total()));
    members.put("logged_rank_bytes", Math.round(predicted.logged().total()));
    if (predicted.hostBytes() > 0) {
      members.put("host_bytes", Math.round(predicted.hostBytes()));
    }
    members.put("fits", predicted.fits());
    members.put("tight", predicted.tight());
    members.put("phases", phases(predicted.phases()));
    members.put("memory", memory(predicted.worst()));
    return members;
  }

  private static Map<String, Object> phases(TransformerPhases phases) {
    Map<String, Object> object = new LinkedHashMap<>();
    PassSeconds layers = phases.layers();
    object.put("products_s", layers.products());
    object.put("attention_s", layers.attention());
    object.put("elementwise_s", layers.elementwise());
    object.put("casts_s", layers.casts());
    object.put("tensor_parallel_s", layers.tensorParallel());
    object.put("context_parallel_s", layers.contextParallel());
    object.put("all_to_all_s", layers.allToAll());
    object.put("launch_s", layers.launch());
    object.put("recomputation_s", phases.recomputation());
    object.put("ends_s", phases.ends());
    object.put("offload_s", phases.offload());
    object.put("bubble_s", phases.bubble());
    object.put("transfers_s", phases.transfers());
    object.put("sharding_s", phases.sharding());
    object.put("data_parallel_s", phases.dataParallel());
    object.put("optimizer_s", phases.optimizer());
    object.put("stragglers_s", phases.stragglers());
    object.put("fixed_s", phases.fixed());
    return object;
  }

  static Map<String, Object> memory(TransformerRankBytes bytes) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("state_bytes", Math.round(bytes.state()));
    object.put("activations_bytes", Math.round(bytes.activations()));
    object.put("working_set_bytes", Math.round(bytes.workingSet()));
    object.put("logits_bytes", Math.round(bytes.logits()));
    object.put("embedding_bytes", Math.round(bytes.embedding()));
    object.put("workspace_bytes", Math.round(bytes.workspace()));
    return object;
  }
}

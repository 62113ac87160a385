package dev.pipewright.formats;

import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.model.Optimizer;
import java.util.List;
import java.util.Map;

/** The members that plan files of all kinds share. */
final class PlanKeys {
  static final String FORMAT = "pipewright-plan";
  static final int VERSION = 1;

  static final List<String> MADE_FOR =
      List.of(
          "model",
          "cluster",
          "cost_model",
          "global_batch",
          "profile_batch",
          "sequence",
          "optimizer",
          "precision",
          "gradients",
          "device_memory_bytes",
          "memory_reserve");
  static final List<String> HEAD = List.of("format", "version");

  /** What an answer says in addition to the plan and what it was made for. */
  static final List<String> ANSWER =
      List.of(
          "planner",
          "objective",
          "lower_bound",
          "speedup",
          "planning_s",
          "simulated",
          "why",
          "candidates",
          "profile",
          "search",
          "sizes",
          "smallest_cluster",
          "cost",
          "robust",
          "export",
          "micro_batch_per_rank",
          "samples_per_s",
          "tokens_per_s",
          "tflops_per_device",
          "mfu");

  /** What an answer says of each stage in addition to the decision. */
  static final List<String> STAGE_FIGURES =
      List.of(
          "forward_s",
          "backward_s",
          "send_s",
          "return_s",
          "allreduce_s",
          "exposed_allreduce_s",
          "update_s",
          "memory_bytes",
          "memory",
          "capacity_bytes",
          "micro_batch_per_rank",
          "parallelism");

  static final Map<String, Optimizer> OPTIMIZERS = EnumWords.of(Optimizer.values());

  /** Bytes of an element of gradients by their format. */
  static final Map<String, Integer> GRADIENTS = Map.of("fp32", 4, "bf16", 2);

  private PlanKeys() {}

  static List<String> joined(List<List<String>> lists) {
    return lists.stream().flatMap(List::stream).distinct().toList();
  }

  static void checkVersion(Fields fields) {
    if (fields.optional("format").isPresent() || fields.optional("version").isPresent()) {
      fields.version(FORMAT, VERSION);
    }
  }
}

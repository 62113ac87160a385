package dev.pipewright.formats.export;

import dev.pipewright.formats.transformer.TorchtitanToml.Flavor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A recipe of torchtitan in Python, the form of its configurations since April 2026.
 *
 * <p>Source: torchtitan, {@code torchtitan/config/} and {@code
 * torchtitan/distributed/pipeline_parallel.py}, of August 2026.
 */
final class TorchtitanExport implements TorchtitanTarget {
  private static final String FILE = "torchtitan_plan.py";

  private static final List<String> TO_ADD =
      List.of(
          "Set what only you know where the recipe's is not yours: data set, tokenizer, learning rate,",
          "steps and the checkpoints' folder.");

  @Override
  public List<String> fileNames() {
    return List.of(FILE);
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    return TO_ADD;
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return new LaunchCommand("-m torchtitan.train --module torchtitan_plan --config plan");
  }

  @Override
  public List<ExportedFile> files(ExportSubject plan) {
    List<String> lines = new ArrayList<>();
    boolean replicated = TorchtitanNetwork.replicated(plan);
    lines.add("p = config.parallelism");
    lines.add("p.data_parallel_replicate_degree = " + (replicated ? plan.dataRanks() : 1));
    lines.add("p.data_parallel_shard_degree = " + (replicated ? 1 : plan.dataRanks()));
    lines.add("p.tensor_parallel_degree = " + plan.parallelism().featureParts());
    lines.add("p.context_parallel_degree = " + plan.parallelism().tokenParts());
    lines.add("p.expert_parallel_degree = " + plan.parallelism().expertParts());
    if (plan.wholeExperts()) {
      lines.add("p.expert_tensor_parallel_degree = 1");
    }
    lines.add("p.pipeline_parallel_degree = " + plan.ranks());
    if (!replicated) {
      lines.add(
          "p.fsdp_reshard_after_forward = " + PythonText.quoted(TorchtitanNetwork.reshard(plan)));
    }
    if (plan.ranks() > 1) {
      lines.add(
          "p.pipeline_parallel_schedule = " + PythonText.quoted(TorchtitanNetwork.schedule(plan)));
      lines.add("p.num_pp_microbatches = " + plan.plan().microBatches());
      lines.add("p.module_fqns_per_model_part = [");
      TorchtitanNetwork.stages(plan, "lm_head").forEach(stage -> lines.add("    " + stage + ","));
      lines.add("]");
    }
    lines.add("config.training.local_batch_size = " + TorchtitanNetwork.localBatch(plan));
    lines.add("config.training.global_batch_size = " + plan.plan().globalBatch());
    plan.shape().ifPresent(shape -> lines.add("config.training.seq_len = " + shape.sequence()));
    boolean recomputes = !RecomputeForm.none(plan.plan());
    lines.add(
        "config.activation_checkpoint.mode = " + PythonText.quoted(recomputes ? "full" : "none"));
    return List.of(new ExportedFile(FILE, text(plan, String.join("\n    ", lines))));
  }

  private static String text(ExportSubject plan, String body) {
    Optional<Flavor> flavor =
        TorchtitanNetwork.flavor(plan).filter(each -> each.model().equals("llama3"));
    String recipe =
        flavor.map(each -> "llama3_" + each.name().toLowerCase(Locale.ROOT)).orElse("planned");
    String module =
        flavor.isPresent() ? "torchtitan.models.llama3.config_registry" : "config_registry";
    return """
    \"\"\"A plan for %s on %s.

    Run it with MODULE=torchtitan_plan CONFIG=plan NGPU=%d ./run_train.sh
    %s
    \"\"\"

    from torchtitan.trainer import Trainer
    from %s import %s


    def plan() -> Trainer.Config:
        \"\"\"The network's recipe with the plan's settings.\"\"\"
        config = %s()
        %s
        return config
    """
        .formatted(
            PythonText.inDocstring(plan.model()),
            plan.degrees(),
            plan.devices(),
            String.join("\n", TO_ADD),
            module,
            recipe,
            recipe,
            body);
  }
}

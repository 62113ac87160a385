package dev.pipewright.formats.export;

import dev.pipewright.formats.transformer.TorchtitanToml.Flavor;
import java.util.List;
import java.util.Optional;

/**
 * The TOML of torchtitan up to 0.2.2. {@code formats.imported.TorchtitanImport} reads it back.
 *
 * <p>Source: torchtitan 0.2.2, {@code torchtitan/config/job_config.py}.
 */
final class TorchtitanTomlExport implements TorchtitanTarget {
  private static final String FILE = "torchtitan.toml";

  @Override
  public List<String> fileNames() {
    return List.of(FILE);
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    return List.of(
        "Add what only you know: training.dataset, training.steps, model.hf_assets_path (tokenizer),",
        "optimizer.lr, checkpoint.enable and checkpoint.folder.");
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return new LaunchCommand("-m torchtitan.train --job.config_file " + FILE);
  }

  @Override
  public List<ExportedFile> files(ExportSubject plan) {
    Optional<Flavor> flavor = TorchtitanNetwork.flavor(plan);
    boolean replicated = TorchtitanNetwork.replicated(plan);
    StringBuilder text = new StringBuilder();
    text.append("# A plan for ").append(PythonText.inDocstring(plan.model())).append(" on ");
    text.append(plan.degrees())
        .append('\n')
        .append(PythonText.comments(toAdd(plan)))
        .append("\n[model]\n");
    put(text, "name", PythonText.quoted(flavor.map(Flavor::model).orElse("custom")));
    put(text, "flavor", PythonText.quoted(flavor.map(Flavor::name).orElse("planned")));
    text.append("\n[training]\n");
    put(text, "local_batch_size", TorchtitanNetwork.localBatch(plan));
    put(text, "global_batch_size", plan.plan().globalBatch());
    plan.shape().ifPresent(shape -> put(text, "seq_len", shape.sequence()));
    text.append("\n[parallelism]\n");
    put(text, "data_parallel_replicate_degree", replicated ? plan.dataRanks() : 1);
    put(text, "data_parallel_shard_degree", replicated ? 1 : plan.dataRanks());
    if (!replicated) {
      put(text, "fsdp_reshard_after_forward", PythonText.quoted(TorchtitanNetwork.reshard(plan)));
    }
    put(text, "tensor_parallel_degree", plan.parallelism().featureParts());
    put(text, "context_parallel_degree", plan.parallelism().tokenParts());
    put(text, "expert_parallel_degree", plan.parallelism().expertParts());
    if (plan.wholeExperts()) {
      put(text, "expert_tensor_parallel_degree", 1);
    }
    put(text, "pipeline_parallel_degree", plan.ranks());
    if (plan.ranks() > 1) {
      put(text, "pipeline_parallel_schedule", PythonText.quoted(TorchtitanNetwork.schedule(plan)));
      put(text, "pipeline_parallel_microbatch_size", plan.perDataRank());
      text.append("module_fqns_per_model_part = [\n");
      TorchtitanNetwork.stages(plan, "output")
          .forEach(stage -> text.append("  ").append(stage).append(",\n"));
      text.append("]\n");
    }
    text.append("\n[activation_checkpoint]\n");
    put(text, "mode", PythonText.quoted(RecomputeForm.none(plan.plan()) ? "none" : "full"));
    return List.of(new ExportedFile(FILE, text.toString()));
  }

  private static void put(StringBuilder text, String key, Object value) {
    text.append(key).append(" = ").append(value).append('\n');
  }
}

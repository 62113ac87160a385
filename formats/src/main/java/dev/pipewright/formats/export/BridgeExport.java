package dev.pipewright.formats.export;

import dev.pipewright.plan.ZeroStage;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A function of Python that sets a plan in a Megatron-Bridge recipe's configuration, as its
 * performance recipes do.
 *
 * <p>Source: Megatron-Bridge, {@code scripts/performance/} and {@code
 * megatron/bridge/training/config.py}, of 2026.
 */
final class BridgeExport implements MegatronTarget {
  private static final String FILE = "bridge_plan.py";

  @Override
  public List<String> fileNames() {
    return List.of(FILE);
  }

  @Override
  public String framework() {
    return "Megatron-Bridge";
  }

  @Override
  public List<ExportRule> rules() {
    List<ExportRule> rules = new ArrayList<>(MegatronSteps.rules());
    rules.add(
        StateRules.sharding(
            plan -> List.of(ZeroStage.NOTHING, ZeroStage.OPTIMIZER), " by a recipe's settings"));
    rules.add(GridRules.consecutive(false));
    return rules;
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    return List.of(
        "Set what only you know where the recipe's is not yours: cfg.dataset, cfg.tokenizer,",
        "cfg.optimizer.lr, cfg.train.train_iters, cfg.checkpoint.save and cfg.checkpoint.load.");
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return new LaunchCommand("train_bridge.py");
  }

  @Override
  public List<ExportedFile> files(ExportSubject plan) {
    List<String> lines = new ArrayList<>();
    set(lines, "model.tensor_model_parallel_size", MegatronSteps.tensor(plan));
    set(lines, "model.sequence_parallel", PythonText.of(MegatronSteps.sequenceParallel(plan)));
    set(lines, "model.pipeline_model_parallel_size", plan.ranks());
    set(
        lines,
        "model.virtual_pipeline_model_parallel_size",
        plan.chunks() > 1 ? plan.chunks() : "None");
    if (plan.predictions() > 0) {
      set(lines, "model.mtp_num_layers", plan.predictions());
    }
    set(
        lines,
        "model.pipeline_model_parallel_layout",
        MegatronSteps.layoutText(plan).map(PythonText::quoted).orElse("None"));
    set(lines, "model.context_parallel_size", MegatronSteps.context(plan));
    if (MegatronSteps.context(plan) > 1) {
      set(lines, "model.cp_comm_type", PythonText.quoted(MegatronSteps.KEYS));
    }
    set(lines, "model.expert_model_parallel_size", MegatronSteps.expert(plan));
    if (plan.wholeExperts()) {
      set(lines, "model.expert_tensor_parallel_size", 1);
    }
    addRecomputation(lines, plan);
    set(lines, "train.micro_batch_size", plan.perDataRank());
    set(lines, "train.global_batch_size", plan.plan().globalBatch());
    boolean sharded = plan.plan().sharding() == ZeroStage.OPTIMIZER;
    set(lines, "ddp.use_distributed_optimizer", PythonText.of(sharded));
    set(lines, "optimizer.use_distributed_optimizer", PythonText.of(sharded));
    set(lines, "ddp.overlap_grad_reduce", PythonText.of(plan.plan().overlapGradients()));
    set(
        lines,
        "ddp.overlap_param_gather",
        PythonText.of(sharded && plan.plan().overlapGradients()));
    Precision precision = plan.training().precision();
    if (precision == Precision.BF16 || precision == Precision.FP16) {
      set(lines, "mixed_precision", PythonText.quoted(precision.word() + "_mixed"));
    }
    String body = String.join("\n    ", lines);
    return List.of(
        new ExportedFile(
            FILE,
            """
            \"\"\"A plan for %s on %s.

            %s
            \"\"\"

            from megatron.bridge.training.config import ConfigContainer


            def apply_plan(cfg: ConfigContainer) -> ConfigContainer:
                \"\"\"Sets the plan in the configuration that a recipe of the network returns.\"\"\"
                assert cfg.model.num_layers == %d, cfg.model.num_layers
                %s
                return cfg
            """
                .formatted(
                    PythonText.inDocstring(plan.model()),
                    plan.degrees(),
                    String.join("\n", toAdd(plan)),
                    plan.blocks(),
                    body)));
  }

  private static void addRecomputation(List<String> lines, ExportSubject plan) {
    Optional<RecomputeForm.Full> full = RecomputeForm.full(plan);
    set(lines, "model.recompute_granularity", full.isPresent() ? "\"full\"" : "None");
    set(
        lines,
        "model.recompute_method",
        full.map(form -> PythonText.quoted(form.method())).orElse("None"));
    set(
        lines,
        "model.recompute_num_layers",
        full.map(form -> String.valueOf(form.layers())).orElse("None"));
  }

  private static void set(List<String> lines, String name, Object value) {
    lines.add("cfg." + name + " = " + value);
  }
}

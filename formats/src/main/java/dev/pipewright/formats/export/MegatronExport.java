package dev.pipewright.formats.export;

import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;

/**
 * Arguments of Megatron-LM's {@code pretrain_gpt.py}: two arrays of a shell script, of network and
 * plan. {@code formats.imported.MegatronImport} reads them back.
 *
 * <p>Source: Megatron-LM, {@code megatron/training/arguments.py}, of 2026.
 */
final class MegatronExport implements MegatronTarget {
  private static final String FILE = "megatron-args.sh";

  @Override
  public String framework() {
    return "Megatron-LM";
  }

  @Override
  public List<String> fileNames() {
    return List.of(FILE);
  }

  @Override
  public List<ExportedFile> files(ExportSubject plan) {
    return List.of(new ExportedFile(FILE, text(plan, toAdd(plan))));
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "Add what only you know: --data-path; --tokenizer-type and --tokenizer-model; --lr and --train-iters; --save and --load.");
    sentences.addAll(MegatronNetwork.unstated(plan.shape().orElseThrow(), plan.constants()));
    return sentences;
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return new LaunchCommand(
        text(plan, List.of()).lines().toList(),
        "pretrain_gpt.py \"${MODEL_ARGS[@]}\" \"${PLAN_ARGS[@]}\"");
  }

  private static String text(ExportSubject plan, List<String> toAdd) {
    return "# Megatron-LM arguments of a plan for "
        + plan.model()
        + " on "
        + plan.degrees()
        + "\n"
        + PythonText.comments(toAdd)
        + MegatronNetwork.flags(plan.shape().orElseThrow(), plan.constants()).array("MODEL_ARGS")
        + flags(plan).array("PLAN_ARGS");
  }

  private static Flags flags(ExportSubject plan) {
    Flags flags =
        new Flags()
            .add("--tensor-model-parallel-size", MegatronSteps.tensor(plan))
            .add("--pipeline-model-parallel-size", plan.ranks());
    flags.addIf(plan.predictions() > 0, "--mtp-num-layers", plan.predictions());
    MegatronSteps.layoutText(plan)
        .ifPresent(layout -> flags.add("--pipeline-model-parallel-layout", layout));
    flags
        .add("--context-parallel-size", MegatronSteps.context(plan))
        .addIf(MegatronSteps.context(plan) > 1, "--cp-comm-type", MegatronSteps.KEYS)
        .add("--expert-model-parallel-size", MegatronSteps.expert(plan))
        .addIf(plan.wholeExperts(), "--expert-tensor-parallel-size", 1)
        .add("--micro-batch-size", plan.perDataRank())
        .add("--global-batch-size", plan.plan().globalBatch())
        .addIf(MegatronSteps.sequenceParallel(plan), "--sequence-parallel")
        .addIf(MegatronSteps.byReplica(plan), "--use-tp-pp-dp-mapping");
    addStates(flags, plan);
    addRecomputation(flags, plan);
    Precision precision = plan.training().precision();
    Optimizer rule = plan.training().optimizer();
    return flags
        .addIf(precision == Precision.BF16, "--bf16")
        .addIf(precision == Precision.FP16, "--fp16")
        .addIf(plan.training().halfGradients(), "--grad-reduce-in-bf16")
        .add("--optimizer", rule == Optimizer.ADAM ? "adam" : "sgd")
        .addIf(rule == Optimizer.SGD, "--sgd-momentum", 0);
  }

  private static void addStates(Flags flags, ExportSubject plan) {
    ZeroStage sharding = plan.plan().sharding();
    boolean overlaps = plan.plan().overlapGradients();
    switch (sharding) {
      case NOTHING -> flags.addIf(overlaps, "--overlap-grad-reduce");
      case OPTIMIZER ->
          flags
              .add("--use-distributed-optimizer")
              .addIf(overlaps, "--overlap-grad-reduce")
              .addIf(overlaps, "--overlap-param-gather");
      case GRADIENTS, PARAMETERS ->
          flags
              .add("--use-megatron-fsdp")
              .add(
                  "--data-parallel-sharding-strategy",
                  sharding == ZeroStage.GRADIENTS ? "optim_grads" : "optim_grads_params")
              .add("--use-distributed-optimizer")
              .add("--overlap-grad-reduce")
              .add("--overlap-param-gather")
              .add("--no-gradient-accumulation-fusion")
              .add("--ckpt-format", "fsdp_dtensor");
    }
  }

  private static void addRecomputation(Flags flags, ExportSubject plan) {
    RecomputeForm.full(plan)
        .ifPresent(full ->
            flags
                .add("--recompute-granularity", "full")
                .add("--recompute-method", full.method())
                .add("--recompute-num-layers", full.layers()));
  }
}

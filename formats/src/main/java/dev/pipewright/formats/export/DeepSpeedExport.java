package dev.pipewright.formats.export;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * DeepSpeed's configuration, and a script with a {@code PipelineModule} that has exactly the plan's
 * stages. DeepSpeed's own methods of partitioning take no list, so the script reads {@code parts}
 * and {@code tensor} of the configuration's {@code pipeline}, which DeepSpeed passes over.
 *
 * <p>Source: DeepSpeed, {@code deepspeed/runtime/pipe/module.py} and {@code engine.py}, of 2026.
 */
final class DeepSpeedExport implements PlanExport {
  private static final String CONFIG = "ds_config.json";
  private static final String SCRIPT = "train_deepspeed.py";

  private static final List<String> TO_ADD =
      List.of(
          "Add what only you know: data and tokenizer in batches(), the learning rate in",
          CONFIG
              + ", and engine.save_checkpoint() and engine.load_checkpoint() with their folder.");

  private static final List<ScheduleRules.Known> SCHEDULES =
      List.of(new ScheduleRules.Known(PipelinePolicy.A.scheduleName(), "1F1B"));

  @Override
  public String framework() {
    return "DeepSpeed";
  }

  @Override
  public List<String> schedules(ExportSubject plan) {
    return ScheduleRules.names(SCHEDULES);
  }

  @Override
  public List<ExportRule> rules() {
    return List.of(
        GridRules.decoder(),
        GridRules.withoutPrediction(),
        GridRules.kinds(List.of(Kind.TENSOR)),
        GridRules.equalRanks(true),
        ScheduleRules.among(SCHEDULES),
        GridRules.consecutive(false),
        GridRules.wholeSamples(),
        StateRules.sharding(DeepSpeedExport::shardings, " with pipelines"),
        StateRules.overlap(DeepSpeedExport::overlaps),
        RecomputeForm.intervals());
  }

  private static List<ZeroStage> shardings(ExportSubject exported) {
    return exported.ranks() > 1
        ? List.of(ZeroStage.NOTHING, ZeroStage.OPTIMIZER)
        : List.of(ZeroStage.values());
  }

  /** The pipeline engine sums gradients after the last backward pass, and DDP does. */
  private static Optional<Boolean> overlaps(ExportSubject exported) {
    boolean never = exported.ranks() > 1 || exported.plan().sharding() == ZeroStage.NOTHING;
    return never ? Optional.of(false) : Optional.empty();
  }

  @Override
  public List<String> fileNames() {
    return List.of(CONFIG, SCRIPT);
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return new LaunchCommand(SCRIPT);
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    return TO_ADD;
  }

  @Override
  public List<String> notes(ExportSubject plan) {
    return plan.tensor() > 1
        ? List.of(
            "the layers that model.py builds divide themselves over the tensor-parallel ranks")
        : List.of();
  }

  @Override
  public List<ExportedFile> files(ExportSubject exported) {
    return List.of(
        new ExportedFile(CONFIG, JsonText.of(config(exported))),
        new ExportedFile(SCRIPT, script(exported)));
  }

  private static Map<String, Object> config(ExportSubject exported) {
    PipelinePlan plan = exported.plan();
    Map<String, Object> zero = new LinkedHashMap<>();
    zero.put("stage", plan.sharding().level());
    zero.put("overlap_comm", plan.overlapGradients());
    List<Integer> parts = new ArrayList<>(List.of(0));
    plan.stages().stream().map(StagePlan::lastLayer).forEach(last -> parts.add(last + 1));
    Map<String, Object> pipeline = new LinkedHashMap<>();
    pipeline.put("stages", exported.ranks());
    pipeline.put("parts", parts);
    pipeline.put("tensor", exported.tensor());
    pipeline.put("activation_checkpoint_interval", RecomputeForm.interval(plan).orElseThrow());
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("train_batch_size", plan.globalBatch());
    config.put("train_micro_batch_size_per_gpu", exported.perRank());
    config.put("gradient_accumulation_steps", plan.microBatches());
    Precision precision = exported.training().precision();
    if (precision == Precision.BF16 || precision == Precision.FP16) {
      config.put(precision.word(), Map.of("enabled", true));
    }
    Map<String, Object> optimizer = new LinkedHashMap<>();
    TorchOptimizer rule = TorchOptimizer.of(exported.training().optimizer());
    optimizer.put("type", rule.name());
    optimizer.put("params", rule.settings());
    config.put("optimizer", optimizer);
    config.put("zero_optimization", zero);
    config.put("pipeline", pipeline);
    return config;
  }

  private static String script(ExportSubject exported) {
    return """
    \"\"\"Trains %s by a plan on %s.

    Give a module model.py with build_layers(), which returns the network's %d layers in order,
    and loss_fn(output, labels) and batches(), an iterator of (inputs, labels).
    %s
    \"\"\"

    import json

    import deepspeed
    from deepspeed.pipe import PipelineModule
    from deepspeed.runtime.pipe.topology import PipeModelDataParallelTopology
    from model import batches, build_layers, loss_fn

    CONFIG = json.load(open("%s"))
    PIPELINE = CONFIG["pipeline"]
    %s

    class PlannedModule(PipelineModule):
        \"\"\"Stages as the plan has them.\"\"\"

        def _partition_layers(self, method="uniform"):
            stage = self._topo.get_coord(self.global_rank).pipe
            self.parts = PIPELINE["parts"]
            self._set_bounds(self.parts[stage], self.parts[stage + 1])


    def main():
        deepspeed.init_distributed()
        ranks = PIPELINE["stages"] * PIPELINE["tensor"]
        topology = PipeModelDataParallelTopology(
            num_pp=PIPELINE["stages"],
            num_mp=PIPELINE["tensor"],
            num_dp=deepspeed.comm.get_world_size() // ranks,
        )
        layers = build_layers()
        assert len(layers) == len(NAMES), (len(layers), len(NAMES))
        module = PlannedModule(
            layers=layers,
            topology=topology,
            loss_fn=loss_fn,
            activation_checkpoint_interval=PIPELINE["activation_checkpoint_interval"],
        )
        engine, _, _, _ = deepspeed.initialize(
            model=module, model_parameters=module.parameters(), config=CONFIG
        )
        data = batches()
        while True:
            try:
                engine.train_batch(data_iter=data)
            except StopIteration:
                return


    if __name__ == "__main__":
        main()
    """
        .formatted(
            PythonText.inDocstring(exported.model()),
            exported.degrees(),
            exported.plan().layers(),
            String.join("\n", TO_ADD),
            CONFIG,
            PythonText.names(exported));
  }
}

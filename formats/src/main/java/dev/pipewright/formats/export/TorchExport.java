package dev.pipewright.formats.export;

import dev.pipewright.formats.schedule.ScheduleCsv;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Placement;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A script for PyTorch's {@code torch.distributed.pipelining}, and the plan's order of work as the
 * schedule file that it runs. Of any network, whose layers the user's module builds.
 *
 * <p>Source: PyTorch 2.9, {@code torch/distributed/pipelining/schedules.py}; the loader of schedule
 * files is private there.
 */
final class TorchExport implements PlanExport {
  private static final String SCRIPT = "train_pipeline.py";
  private static final String SCHEDULE = "schedule.csv";

  private static final List<String> TO_ADD =
      List.of(
          "Add what only you know: data and tokenizer in batches(), the learning rate in SETTINGS,",
          "and torch.save() and torch.load() of checkpoints with their folder.");

  @Override
  public String framework() {
    return "PyTorch's pipelining";
  }

  @Override
  public List<String> schedules(ExportSubject plan) {
    return List.of();
  }

  @Override
  public List<ExportRule> rules() {
    return List.of(
        GridRules.kinds(List.of(Kind.TENSOR, Kind.SEQUENCE)),
        GridRules.equalRanks(true),
        ScheduleRules.oneDirection(),
        GridRules.consecutive(true),
        GridRules.wholeSamples(),
        RecomputeForm.everyMicroBatch());
  }

  @Override
  public List<String> fileNames() {
    return List.of(SCRIPT, SCHEDULE);
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
    return List.of(
        "model.py is yours: build_layers() returns the %d layers in order%s"
            .formatted(
                plan.plan().layers(),
                plan.tensor() > 1
                    ? ", and divide(layer, mesh) divides one over the tensor-parallel ranks"
                    : ""));
  }

  @Override
  public List<ExportedFile> files(ExportSubject exported) {
    return List.of(
        new ExportedFile(SCRIPT, constants(exported) + BODY),
        new ExportedFile(SCHEDULE, ScheduleCsv.text(exported.plan().schedule())));
  }

  private static String constants(ExportSubject exported) {
    Placement placement = exported.plan().placement();
    List<StagePlan> stages = exported.plan().stages();
    TorchOptimizer rule = TorchOptimizer.of(exported.training().optimizer());
    return """
    \"\"\"Trains %s by a plan on %s.

    Start it with torchrun of PyTorch 2.9 or later. Give a module model.py with build_layers(), which returns the
    network's %d layers in order; loss_fn(output, labels); batches(samples), an iterator of
    (inputs, labels) for a data-parallel rank; and, where TENSOR > 1, divide(layer, mesh).
    %s
    \"\"\"

    import os

    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.distributed.pipelining import PipelineStage
    from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
    from torch.utils.checkpoint import checkpoint

    import model

    RANKS, DATA, TENSOR = %d, %d, %d
    MESH = {%s}  # how torchrun's ranks are numbered, outermost first
    LAYERS = [%s]  # the first and the last of each stage
    RECOMPUTED = [%s]  # runs of layers that keep their input only
    RANK_OF_STAGE = [%s]
    MICRO_BATCHES = %d
    SAMPLES = %d  # of a micro-batch on a data-parallel rank
    ZERO = %d
    OVERLAP = %s
    OPTIMIZER = torch.optim.%s
    SETTINGS = %s  # of the optimizer
    %s\
    """
        .formatted(
            PythonText.inDocstring(exported.model()),
            exported.degrees(),
            exported.plan().layers(),
            String.join("\n", TO_ADD),
            exported.ranks(),
            exported.data(),
            exported.tensor(),
            mesh(exported),
            stages.stream()
                .map(s -> "(%d, %d)".formatted(s.firstLayer(), s.lastLayer()))
                .collect(Collectors.joining(", ")),
            stages.stream().map(TorchExport::runs).collect(Collectors.joining(", ")),
            IntStream.range(0, stages.size())
                .mapToObj(s -> String.valueOf(placement.rankOf(s)))
                .collect(Collectors.joining(", ")),
            exported.plan().microBatches(),
            exported.perRank(),
            exported.plan().sharding().level(),
            PythonText.of(exported.plan().overlapGradients()),
            rule.name(),
            rule.settings().entrySet().stream()
                .map(each -> PythonText.quoted(each.getKey()) + ": " + each.getValue())
                .collect(Collectors.joining(", ", "{", "}")),
            PythonText.names(exported));
  }

  /** Rank by rank, or pipeline by pipeline. */
  private static String mesh(ExportSubject exported) {
    String ranks = "\"pipeline\": RANKS";
    String data = "\"data\": DATA";
    return (GridRules.isConsecutive(exported) ? ranks + ", " + data : data + ", " + ranks)
        + ", \"tensor\": TENSOR";
  }

  private static String runs(StagePlan stage) {
    return stage.recomputed().stream()
        .map(TorchExport::run)
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private static String run(LayerRange run) {
    return "(%d, %d)".formatted(run.first(), run.last());
  }

  private static final String BODY =
      """


      class Stage(torch.nn.Module):
          \"\"\"The layers of a stage, some of which are recomputed for the backward pass.\"\"\"

          def __init__(self, index, layers):
              super().__init__()
              self.first, last = LAYERS[index]
              self.layers = torch.nn.ModuleList(layers[self.first : last + 1])
              self.runs = dict(RECOMPUTED[index])

          def forward(self, states):
              at, end = self.first, self.first + len(self.layers)
              while at < end:
                  last = self.runs.get(at, at)
                  part = self.layers[at - self.first : last - self.first + 1]

                  def run(x, part=part):
                      for layer in part:
                          x = layer(x)
                      return x

                  again = at in self.runs
                  states = checkpoint(run, states, use_reentrant=False) if again else run(states)
                  at = last + 1
              return states


      def main():
          torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
          device = torch.device("cuda", torch.cuda.current_device())
          dist.init_process_group("nccl", device_id=device)
          mesh = init_device_mesh("cuda", tuple(MESH.values()), mesh_dim_names=tuple(MESH))
          rank = mesh["pipeline"].get_local_rank()
          layers = model.build_layers()
          assert len(layers) == len(NAMES), (len(layers), len(NAMES))
          parts = {}
          for index, of in enumerate(RANK_OF_STAGE):
              if of == rank:
                  module = Stage(index, layers)
                  if TENSOR > 1:
                      for i, layer in enumerate(module.layers):
                          module.layers[i] = model.divide(layer, mesh["tensor"])
                  module.to(device)
                  if ZERO >= 2:
                      for layer in module.layers:
                          fully_shard(layer, mesh=mesh["data"], reshard_after_forward=ZERO == 3)
                      fully_shard(module, mesh=mesh["data"], reshard_after_forward=ZERO == 3)
                  elif DATA > 1 and OVERLAP:
                      module = torch.nn.parallel.DistributedDataParallel(
                          module, process_group=mesh["data"].get_group()
                      )
                  parts[index] = module
          group = mesh["pipeline"].get_group()
          stages = [
              PipelineStage(module, index, len(LAYERS), device, group=group)
              for index, module in parts.items()
          ]
          schedule = _PipelineScheduleRuntime(stages, MICRO_BATCHES, loss_fn=model.loss_fn)
          schedule.stage_index_to_group_rank = dict(enumerate(RANK_OF_STAGE))
          for stage in stages:
              stage.stage_index_to_group_rank = schedule.stage_index_to_group_rank
          schedule._load_csv("schedule.csv", format="compute_only")
          parameters = [p for module in parts.values() for p in module.parameters()]
          if ZERO == 1:
              optimizer = ZeroRedundancyOptimizer(
                  parameters,
                  optimizer_class=OPTIMIZER,
                  process_group=mesh["data"].get_group(),
                  **SETTINGS,
              )
          else:
              optimizer = OPTIMIZER(parameters, **SETTINGS)
          for inputs, labels in model.batches(SAMPLES * MICRO_BATCHES):
              optimizer.zero_grad()
              losses = []
              given = [inputs.to(device)] if 0 in parts else []
              if len(LAYERS) - 1 in parts:
                  schedule.step(*given, target=labels.to(device), losses=losses)
              else:
                  schedule.step(*given)
              if DATA > 1 and ZERO < 2 and not OVERLAP:
                  for p in parameters:
                      dist.all_reduce(p.grad, dist.ReduceOp.AVG, group=mesh["data"].get_group())
              optimizer.step()


      if __name__ == "__main__":
          main()
      """;
}

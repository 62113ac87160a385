package dev.pipewright.formats.oracle;

import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerRun;

/** Makes runs of rows. A table with Megatron-LM's flags follows that program's defaults. */
public final class TrainingRuns {
  private final MachineSheets machines;

  public TrainingRuns(MachineSheets machines) {
    this.machines = machines;
  }

  /**
   * The run of a row.
   *
   * @throws dev.pipewright.formats.file.BadInputException with the row's line and column
   */
  public TransformerRun of(TrainingRow row) {
    boolean flags = row.has("transformer_impl") || row.has("max_allocated_bytes");
    GpuMachine machine = row.checked("machine", () -> machines.find(row.text("machine")));
    TransformerShape shape = row.checked("layers", () -> RowNetwork.of(row, flags));
    int zero = zero(row, flags);
    RowSettings settings = new RowSettings(row, flags, zero);
    boolean stated = row.isFilled("layout");
    int pipeline = row.degree("pipeline", 1);
    int interleave = row.degree("interleave", 1);
    StageSplit split =
        row.checked(
            stated ? "layout" : "pipeline",
            () ->
                stated
                    ? StatedSplit.of(row.text("layout"), pipeline)
                    : even(row, shape, pipeline, interleave));
    int chunks = split.chunks().size() / pipeline;
    boolean reshard = settings.reshard();
    TrainingLayout layout = row.checked("devices", () -> layout(row, zero, reshard, chunks));
    return row.checked(
        "tensor",
        () ->
            new TransformerRun(
                shape,
                machine,
                settings.software(),
                layout,
                split,
                settings.formats(),
                settings.fusedAttention(),
                settings.recompute(),
                settings.routing(),
                row.checked("offload_optimizer", settings::offload),
                settings.kept()));
  }

  private static int zero(TrainingRow row, boolean flags) {
    if (!flags) {
      return row.count("zero", 0);
    }
    return row.isFilled("fsdp") ? 3 : row.flag("distributed_optimizer", false) ? 1 : 0;
  }

  private static TrainingLayout layout(TrainingRow row, int zero, boolean reshard, int interleave) {
    int tensor = row.degree("tensor", 1);
    int pipeline = row.degree("pipeline", 1);
    int context = row.degree("context", 1);
    long model = (long) tensor * pipeline * context;
    int devices = row.positive("devices", 0);
    int data = row.degree("data", (int) Math.max(1, devices / model));
    if (devices > 0 && model * data != devices) {
      throw row.wrong(
          "devices",
          "devices=%d are not tensor=%d × pipeline=%d × context=%d × data=%d; correct one of them"
              .formatted(devices, tensor, pipeline, context, data));
    }
    boolean experts = row.count("experts", 0) > 0;
    int expert = row.degree("expert", 1);
    int expertTensor = row.degree("expert_tensor", experts ? tensor : 1);
    boolean tooMany = (long) expertTensor * expert > (long) tensor * context * data;
    int group = row.degree("fsdp_degree", data);
    return new TrainingLayout(
        tensor,
        pipeline,
        data,
        context,
        interleave,
        expert,
        experts && tooMany ? 1 : expertTensor,
        zero,
        group == data ? data * context : group, // shards lie over context parallelism, too
        reshard,
        row.flag("sequence_parallel", false),
        row.required("global_batch"),
        row.positive("micro_batch", 1));
  }

  private static StageSplit even(
      TrainingRow row, TransformerShape shape, int pipeline, int interleave) {
    return StageSplit.even(
        pipeline,
        interleave,
        shape.layers(),
        row.count("mtp", 0),
        row.flag("embedding_in_split", false),
        row.flag("loss_in_split", false));
  }
}

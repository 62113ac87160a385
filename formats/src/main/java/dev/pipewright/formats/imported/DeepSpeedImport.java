package dev.pipewright.formats.imported;

import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.export.RecomputeForm;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A configuration of DeepSpeed whose {@code pipeline} says the layers of each stage as {@code
 * parts}, as an export writes it; DeepSpeed's own methods depend on the network's modules.
 *
 * <p>Source: DeepSpeed, {@code deepspeed/runtime/config.py}, of 2026.
 */
final class DeepSpeedImport implements PlanImport {
  @Override
  public String words() {
    return "a configuration of DeepSpeed";
  }

  @Override
  public boolean begins(String start) {
    return start.startsWith("{")
        && (start.contains("\"train_micro_batch_size_per_gpu\"")
            || start.contains("\"zero_optimization\""));
  }

  @Override
  public PlanFile<PipelinePlan> read(Path file, OptionalInt devices) {
    Fields fields = Tree.json(file).object();
    int world = StageGrid.devices(file, devices, "configurations of DeepSpeed");
    return new PlanFile<>(plan(file, fields, world), MadeFor.UNKNOWN, Optional.empty());
  }

  private static PipelinePlan plan(Path file, Fields fields, int world) {
    Node at =
        fields
            .optional("pipeline")
            .orElseThrow(() ->
                fields
                    .node()
                    .wrong(
                        "the configuration says no stages; add pipeline with parts, the first layer of each stage and the number of layers"));
    Fields pipeline = at.object();
    List<Integer> parts = pipeline.counts("parts", 0);
    int ranks = parts.size() - 1;
    int stated = pipeline.optional("stages").map(node -> node.count(1)).orElse(ranks);
    boolean ascends = ranks >= 1 && parts.get(0) == 0;
    for (int i = 1; i < parts.size(); i++) {
      ascends &= parts.get(i) > parts.get(i - 1);
    }
    if (!ascends || stated != ranks) {
      throw pipeline
          .required("parts")
          .wrong(
              "parts are %s for %d stages; expected 0, the first layer of each further stage and the number of layers"
                  .formatted(parts, stated));
    }
    int tensor = pipeline.optional("tensor").map(node -> node.count(1)).orElse(1);
    if (world % Math.multiplyFull(ranks, tensor) != 0) {
      throw at.wrong(
          "%d devices are no multiple of %d stages times tensor %d; give as many devices with --cluster"
              .formatted(world, ranks, tensor));
    }
    List<Integer> ends = parts.subList(1, parts.size()).stream().map(part -> part - 1).toList();
    StageGrid grid =
        new StageGrid(
            file,
            ranks,
            world / ranks,
            ends,
            Collections.nCopies(
                ranks,
                tensor == 1 ? Parallelism.NONE : Parallelism.of(Parallelism.Kind.TENSOR, tensor)),
            false);
    Optional<Fields> zero = fields.optional("zero_optimization").map(Node::object);
    return grid.plan(
        PipelinePolicy.A.scheduleName(),
        batching(fields, world / (ranks * tensor)),
        new StageGrid.Keeping(
            zero.flatMap(f -> f.optional("overlap_comm")).map(Node::flag).orElse(false),
            sharding(zero, ranks),
            recomputed(pipeline, grid)));
  }

  /** Two of the three numbers say the third. */
  private static StageGrid.Batching batching(Fields fields, int data) {
    Optional<Integer> global = count(fields, "train_batch_size");
    Optional<Integer> samples = count(fields, "train_micro_batch_size_per_gpu");
    Optional<Integer> steps = count(fields, "gradient_accumulation_steps");
    int each =
        samples.orElseGet(() -> global.orElse(data) / Math.multiplyExact(steps.orElse(1), data));
    int microBatches = steps.orElseGet(() -> global.orElse(each * data) / Math.max(1, each * data));
    boolean agree =
        each >= 1
            && microBatches >= 1
            && (global.isEmpty()
                || global.get() == Math.multiplyFull(each, microBatches) * (long) data);
    if (!agree) {
      throw fields
          .node()
          .wrong(
              "train_batch_size %s is not train_micro_batch_size_per_gpu %s times gradient_accumulation_steps %s times %d data-parallel ranks; make them agree"
                  .formatted(shown(global), shown(samples), shown(steps), data));
    }
    return new StageGrid.Batching(microBatches, each);
  }

  private static String shown(Optional<Integer> number) {
    return number.map(String::valueOf).orElse("(not given)");
  }

  private static Optional<Integer> count(Fields fields, String key) {
    return fields.optional(key).map(node -> node.count(Range.SAMPLES));
  }

  private static ZeroStage sharding(Optional<Fields> zero, int ranks) {
    Optional<Node> level = zero.flatMap(fields -> fields.optional("stage"));
    if (level.isEmpty()) {
      return ZeroStage.NOTHING;
    }
    Node node = level.get();
    ZeroStage stage =
        ZeroStage.of(node.count(0))
            .orElseThrow(() -> node.wrong("there are ZeRO stages 0 to 3; give one of them"));
    if (ranks > 1 && stage.atLeast(ZeroStage.GRADIENTS)) {
      throw node.wrong(
          "DeepSpeed's pipelines take ZeRO 0 and 1, not %d; write 1".formatted(stage.level()));
    }
    return stage;
  }

  private static List<List<LayerRange>> recomputed(Fields pipeline, StageGrid grid) {
    int each =
        pipeline.optional("activation_checkpoint_interval").map(node -> node.count(0)).orElse(0);
    List<List<LayerRange>> all = new ArrayList<>();
    for (int s = 0; s < grid.ends().size(); s++) {
      int first = grid.first(s);
      int layers = grid.ends().get(s) - first + 1;
      all.add(each == 0 ? List.of() : RecomputeForm.runs(first, layers, each, layers));
    }
    return all;
  }
}

package dev.pipewright.formats.imported;

import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.export.RecomputeForm;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.transformer.MegatronArguments;
import dev.pipewright.formats.transformer.MegatronFile;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The plan in Megatron-LM's arguments, of which the same file also states the network. Their world
 * size is that of the launcher.
 *
 * <p>Source: Megatron-LM, {@code megatron/training/arguments.py}, of 2026.
 */
final class MegatronImport implements PlanImport {
  private static final String BLOCKS = "num-layers";
  private static final String BATCH = "global-batch-size";
  private static final String GRANULARITY = "recompute-granularity";
  private static final String STRATEGY = "data-parallel-sharding-strategy";

  private static final String TENSOR = "tensor-model-parallel-size";
  private static final String CONTEXT = "context-parallel-size";
  private static final String EXPERT = "expert-model-parallel-size";
  private static final String STEPS = "sequence-parallel";
  private static final String BY_REPLICA = "use-tp-pp-dp-mapping";

  private static final String OF_EXPERTS = "expert-tensor-parallel-size";

  /** What plans do not have: flags with the values that change nothing. */
  private static final List<String> DEGREES =
      List.of("hierarchical-context-parallel-sizes", OF_EXPERTS);

  private static final List<String> UNKNOWN =
      List.of(
          "use-torch-fsdp2",
          "cpu-offloading",
          "fine-grained-activation-offloading",
          "account-for-embedding-in-pipeline-split",
          "account-for-loss-in-pipeline-split",
          "rampup-batch-size");

  @Override
  public String words() {
    return "arguments of Megatron-LM";
  }

  @Override
  public boolean begins(String start) {
    return MegatronFile.begins(start);
  }

  @Override
  public PlanFile<PipelinePlan> read(Path file, OptionalInt devices) {
    MegatronArguments arguments = MegatronFile.arguments(file);
    refuseUnknown(arguments);
    int world =
        StageGrid.devices(
            file, first(arguments.optional("world-size"), devices), "arguments of Megatron-LM");
    PipelinePlan plan = new Reading(file, arguments).plan(world);
    return PlanImport.file(plan, Optional.of(file), Optional.of(training(arguments)));
  }

  /**
   * The plan of arguments that need not state the network and the batch.
   *
   * @param place what sentences about mistakes call them
   * @param blocks of the network
   * @param globalBatch samples of a step
   */
  static PipelinePlan plan(Path place, String text, int blocks, int globalBatch, int devices) {
    MegatronArguments said = MegatronFile.arguments(place, text);
    String network = said.says(BLOCKS) ? "" : " --%s %d".formatted(BLOCKS, blocks);
    String batch = said.says(BATCH) ? "" : " --%s %d".formatted(BATCH, globalBatch);
    MegatronArguments arguments = MegatronFile.arguments(place, text + network + batch);
    refuseUnknown(arguments);
    return new Reading(place, arguments).plan(arguments.number("world-size", devices));
  }

  private static OptionalInt first(OptionalInt one, OptionalInt other) {
    return one.isPresent() ? one : other;
  }

  private static BadInputException without(MegatronArguments arguments, String degree, int parts) {
    return arguments.wrong(
        degree,
        "--%s is %d, which imported plans cannot have: they divide layers by tensor and context sizes, by equal context and expert sizes, or by an expert size that is a multiple of the tensor size; `pipewright predict` takes such layouts"
            .formatted(degree, parts));
  }

  private static void refuseUnknown(MegatronArguments arguments) {
    for (String degree : DEGREES) {
      int parts = arguments.number(degree, 1);
      if (parts > 1) {
        throw without(arguments, degree, parts);
      }
    }
    int tensor = arguments.number(TENSOR, 1);
    int context = arguments.number(CONTEXT, 1);
    int expert = arguments.number(EXPERT, 1);
    if (context > 1 && tensor > 1 && !arguments.flag(STEPS)) {
      throw arguments.wrong(
          CONTEXT,
          "--%s is %d with tensor parallelism of whole sequences, which imported plans cannot have; add --%s"
              .formatted(CONTEXT, context, STEPS));
    }
    boolean both = tensor > 1 && (context > 1 || expert % tensor != 0);
    if (expert > 1 && (both || (context > 1 && expert != context))) {
      throw without(arguments, EXPERT, expert);
    }
    if (expert > 1 && tensor > 1 && !arguments.says(OF_EXPERTS)) {
      throw arguments.wrong(
          EXPERT,
          "--%s is %d with tensor parallelism within experts, which imported plans cannot have; add --%s 1"
              .formatted(EXPERT, expert, OF_EXPERTS));
    }
    if (expert > 1 && tensor > 1 && !arguments.flag(STEPS)) {
      throw arguments.wrong(
          EXPERT,
          "--%s is %d with tensor parallelism of whole sequences, which imported plans cannot have; add --%s"
              .formatted(EXPERT, expert, STEPS));
    }
    for (String flag : UNKNOWN) {
      boolean off =
          arguments.word(flag).filter(v -> !v.equals("False") && !v.equals("false")).isEmpty();
      if (!off) {
        throw arguments.wrong(
            flag, "--%s is nothing that plans have; leave it out".formatted(flag));
      }
    }
  }

  private static Training training(MegatronArguments arguments) {
    Precision precision =
        arguments.flag("bf16")
            ? Precision.BF16
            : arguments.flag("fp16") ? Precision.FP16 : Precision.FP32;
    boolean sgd = arguments.word("optimizer").filter("sgd"::equals).isPresent();
    boolean plain = arguments.word("sgd-momentum").filter(v -> v.matches("0+(\\.0*)?")).isPresent();
    return new Training(
        sgd ? plain ? Optimizer.SGD : Optimizer.MOMENTUM : Optimizer.ADAM,
        precision,
        arguments.flag("grad-reduce-in-bf16"));
  }

  /** One file's plan. */
  private record Reading(Path file, MegatronArguments arguments) {
    PipelinePlan plan(int world) {
      Parallelism division = division();
      int parts = division.parts();
      int ranks = positive("pipeline-model-parallel-size");
      if (world % Math.multiplyFull(parts, ranks) != 0) {
        String flag = wholeSequences() ? EXPERT : division.dividesTokens() ? CONTEXT : TENSOR;
        String both = positive(CONTEXT) > 1 && division.nested() ? "context times " : "";
        String word = both + flag.substring(0, flag.indexOf('-'));
        throw arguments.wrong(
            flag,
            "%d devices are no multiple of %s %d times pipeline %d; give as many devices with --cluster"
                .formatted(world, word, parts, ranks));
      }
      int data = world / (parts * ranks);
      if (wholeSequences() && ranks > 1 && arguments.flag(BY_REPLICA)) {
        throw arguments.wrong(
            BY_REPLICA,
            "--%s has the ranks that divide experts in different stages; leave it out"
                .formatted(BY_REPLICA));
      }
      List<Integer> ends = new MegatronStages(arguments).ends(ranks);
      boolean byReplica = arguments.flag(BY_REPLICA) && ranks > 1 && data > 1;
      StageGrid grid =
          new StageGrid(
              file,
              ranks,
              data * parts,
              ends,
              Collections.nCopies(ends.size(), division),
              byReplica);
      return grid.plan(
          ends.size() > ranks ? Interleaved.NAME : PipelinePolicy.A.scheduleName(),
          batching(data * division.sampleParts()).together(division.sampleParts()),
          new StageGrid.Keeping(
              arguments.flag("overlap-grad-reduce") || sharding().atLeast(ZeroStage.GRADIENTS),
              sharding(),
              recomputed(grid)));
    }

    /** Whether data-parallel ranks divide experts: plans have their sequences together. */
    private boolean wholeSequences() {
      return positive(EXPERT) > 1 && positive(CONTEXT) == 1;
    }

    private Parallelism division() {
      int tensor = positive(TENSOR);
      int context = positive(CONTEXT);
      if (wholeSequences()) {
        return Parallelism.ofExpertCopies(positive(EXPERT) / tensor, tensor);
      }
      if (context > 1 && tensor > 1) {
        return Parallelism.ofCopies(context, tensor);
      }
      if (context > 1) {
        boolean experts = positive(EXPERT) == context;
        return Parallelism.of(
            experts ? Parallelism.Kind.EXPERT : Parallelism.Kind.CONTEXT, context);
      }
      boolean steps = arguments.flag(STEPS);
      return tensor == 1
          ? Parallelism.NONE
          : Parallelism.of(steps ? Parallelism.Kind.SEQUENCE : Parallelism.Kind.TENSOR, tensor);
    }

    private int positive(String flag) {
      int number = arguments.number(flag, 1);
      if (number < 1) {
        throw arguments.wrong(flag, "--%s is 0; expected a whole number >= 1".formatted(flag));
      }
      return number;
    }

    private StageGrid.Batching batching(int data) {
      int samples = positive("micro-batch-size");
      int global = arguments.number(BATCH, Math.multiplyExact(samples, data));
      if (global < 1 || global % Math.multiplyFull(samples, data) != 0) {
        throw arguments.wrong(
            BATCH,
            "--global-batch-size is %d, no multiple of --micro-batch-size %d times %d data-parallel ranks; correct one of them"
                .formatted(global, samples, data));
      }
      return new StageGrid.Batching(global / (samples * data), samples);
    }

    private ZeroStage sharding() {
      if (arguments.flag("use-megatron-fsdp")) {
        String strategy = arguments.word(STRATEGY).orElse("no_shard");
        return switch (strategy) {
          case "no_shard" -> ZeroStage.NOTHING;
          case "optim" -> ZeroStage.OPTIMIZER;
          case "optim_grads" -> ZeroStage.GRADIENTS;
          case "optim_grads_params" -> ZeroStage.PARAMETERS;
          default ->
              throw arguments.wrong(
                  STRATEGY,
                  "--%s is %s; known are no_shard, optim, optim_grads and optim_grads_params"
                      .formatted(STRATEGY, ShownText.of(strategy)));
        };
      }
      return arguments.flag("use-distributed-optimizer") ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
    }

    private List<List<LayerRange>> recomputed(StageGrid grid) {
      boolean full = recomputesFully();
      int layers = full ? positive("recompute-num-layers") : 0;
      boolean uniform = full && uniform();
      List<List<LayerRange>> runs = new ArrayList<>();
      for (int s = 0; s < grid.ends().size(); s++) {
        int first = Math.max(1, grid.first(s));
        int count = Math.min(grid.ends().get(s), arguments.number(BLOCKS)) - first + 1;
        runs.add(
            uniform
                ? RecomputeForm.runs(first, count, layers, count)
                : RecomputeForm.runs(first, count, 1, layers));
      }
      return runs;
    }

    private boolean uniform() {
      String method = arguments.word("recompute-method").orElse("");
      return switch (method) {
        case "uniform" -> true;
        case "block" -> false;
        default ->
            throw arguments.wrong(
                "recompute-method",
                "--recompute-method is %s; known are uniform and block"
                    .formatted(ShownText.of(method)));
      };
    }

    /** Attention alone keeps nothing that plans count: its scores are never stored. */
    private boolean recomputesFully() {
      if (arguments.flag("recompute-activations")) {
        return false;
      }
      String granularity = arguments.word(GRANULARITY).orElse("");
      if (granularity.equals("selective")) {
        String modules = arguments.word("recompute-modules").orElse("core_attn");
        if (!modules.equals("core_attn")) {
          throw arguments.wrong(
              "recompute-modules",
              "--recompute-modules is %s; plans recompute whole layers, so that only core_attn is read"
                  .formatted(ShownText.of(modules)));
        }
        return false;
      }
      if (!granularity.isEmpty() && !granularity.equals("full")) {
        throw arguments.wrong(
            GRANULARITY,
            "--%s is %s; known are full and selective"
                .formatted(GRANULARITY, ShownText.of(granularity)));
      }
      return granularity.equals("full");
    }
  }
}

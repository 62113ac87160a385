package dev.pipewright.formats.imported;

import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.export.RecomputeForm;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.transformer.TomlTables;
import dev.pipewright.formats.transformer.TorchtitanToml;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.PipelinePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The plan in a TOML configuration of torchtitan up to 0.2.2, which also names the network.
 *
 * <p>Source: torchtitan 0.2.2, {@code torchtitan/config/job_config.py}.
 */
final class TorchtitanImport implements PlanImport {
  private static final String PARTS = "parallelism.module_fqns_per_model_part";
  private static final String MODE = "activation_checkpoint.mode";
  private static final Pattern STAGE = Pattern.compile("\\[([^\\[\\]]*)\\]");
  private static final Pattern MODULE = Pattern.compile("[\"']([^\"']*)[\"']");
  private static final Pattern BLOCK = Pattern.compile("layers\\.(\\d{1,6})");

  private static final Map<String, String> SCHEDULES =
      Map.of(
          "1F1B", PipelinePolicy.A.scheduleName(),
          "GPipe", PipelinePolicy.ALL.scheduleName(),
          "Interleaved1F1B", Interleaved.NAME,
          "LoopedBFS", LoopedBreadthFirst.NAME,
          "InterleavedZeroBubble", InterleavedZeroBubble.NAME,
          "DualPipeV", DualPipeV.NAME);

  @Override
  public String words() {
    return "a configuration of torchtitan";
  }

  @Override
  public boolean begins(String start) {
    return TorchtitanToml.begins(start);
  }

  @Override
  public PlanFile<PipelinePlan> read(Path file, OptionalInt devices) {
    TomlTables tables = TomlTables.read(file);
    int world = StageGrid.devices(file, devices, "configurations of torchtitan");
    PipelinePlan plan = new Reading(file, tables).plan(world);
    Optional<Path> network = TorchtitanToml.isKnown(tables) ? Optional.of(file) : Optional.empty();
    return PlanImport.file(plan, network, Optional.empty());
  }

  /** One file's plan. */
  private record Reading(Path file, TomlTables tables) {
    PipelinePlan plan(int world) {
      int ranks = degree("pipeline");
      int tensor = degree("tensor");
      int context = degree("context");
      Parallelism division = division(context, tensor);
      int parts = Math.multiplyExact(context, tensor);
      int rest = world / Math.multiplyExact(ranks, parts);
      int replicated = number("parallelism.data_parallel_replicate_degree", 1);
      int sharded = sharded(rest, replicated);
      if (Math.multiplyFull(rest, ranks) * parts != world
          || Math.multiplyFull(replicated, sharded) != rest) {
        throw BadInputException.in(
            file,
            "its degrees %d × %d × %d × %d make no %d devices; give as many with --cluster"
                .formatted(ranks, replicated, sharded, parts, world));
      }
      if (replicated > 1 && sharded > 1) {
        throw wrong(
            "parallelism.data_parallel_replicate_degree",
            "data parallelism both replicates and shards, which plans do not have; make one degree 1");
      }
      int together = division.sampleParts(); // data-parallel ranks that divide experts
      if (sharded % together != 0) {
        throw wrong(
            key("expert"),
            "expert_parallel_degree is %d, but %d data-parallel ranks shard; write a degree whose ranks they are a multiple of"
                .formatted(degree("expert"), sharded));
      }
      List<Integer> ends = ends(ranks);
      StageGrid grid =
          new StageGrid(
              file, ranks, rest * parts, ends, Collections.nCopies(ends.size(), division), false);
      return grid.plan(
          ranks == 1 ? PipelinePolicy.A.scheduleName() : schedule(),
          batching(ranks, rest).together(together),
          new StageGrid.Keeping(true, sharding(sharded * context, ranks), recomputed(grid)));
    }

    private Parallelism division(int context, int tensor) {
      int expert = degree("expert");
      if (expert == 1) {
        return tensor > 1
            ? Parallelism.ofCopies(context, tensor)
            : context == 1 ? Parallelism.NONE : Parallelism.of(Parallelism.Kind.CONTEXT, context);
      }
      boolean whole = tensor == 1 || degree("expert_tensor") == 1;
      if (whole && context == 1 && expert % tensor == 0) {
        return Parallelism.ofExpertCopies(expert / tensor, tensor);
      }
      if (tensor == 1 && expert == context) {
        return Parallelism.of(Parallelism.Kind.EXPERT, expert);
      }
      throw wrong(
          key("expert"),
          "expert_parallel_degree is %d, which imported plans cannot have: they have whole experts, by a degree that is a multiple of the tensor-parallel or equal to the context-parallel one; write such a degree, or 1"
              .formatted(expert));
    }

    private static String key(String kind) {
      return "parallelism." + kind + "_parallel_degree";
    }

    private int degree(String kind) {
      return number(key(kind), 1);
    }

    private int sharded(int rest, int replicated) {
      boolean all =
          tables
              .value("parallelism.data_parallel_shard_degree")
              .map(TomlTables.Entry::text)
              .orElse("-1")
              .equals("-1");
      return all
          ? Math.max(1, rest / replicated)
          : number("parallelism.data_parallel_shard_degree", 1);
    }

    private BadInputException wrong(String key, String mistake) {
      return BadInputException.at(
          file, tables.value(key).map(TomlTables.Entry::line).orElse(1), mistake);
    }

    private int number(String key, int usual) {
      Optional<TomlTables.Entry> entry = tables.value(key);
      if (entry.isEmpty()) {
        return usual;
      }
      String digits = entry.get().text().replace("_", "");
      if (!digits.matches("[1-9]\\d{0,8}")) {
        throw wrong(
            key, "%s is %s; expected a whole number >= 1".formatted(key, ShownText.of(digits)));
      }
      return Integer.parseInt(digits);
    }

    private String schedule() {
      String key = "parallelism.pipeline_parallel_schedule";
      String theirs = tables.value(key).map(TomlTables.Entry::text).orElse("1F1B");
      String ours = SCHEDULES.get(theirs);
      if (ours == null) {
        throw wrong(
            key,
            "the schedule %s is not read; known are %s"
                .formatted(
                    ShownText.of(theirs), String.join(", ", new TreeSet<>(SCHEDULES.keySet()))));
      }
      return ours;
    }

    /** With pipelines a local batch is a step's; without, gradients accumulate over several. */
    private StageGrid.Batching batching(int ranks, int data) {
      int local = number("training.local_batch_size", 1);
      int samples = ranks == 1 ? local : number("parallelism.pipeline_parallel_microbatch_size", 1);
      int global = number("training.global_batch_size", Math.multiplyExact(local, data));
      if (local % samples != 0 || global % Math.multiplyFull(local, data) != 0) {
        throw wrong(
            "training.local_batch_size",
            "micro-batches of %d samples, a local batch of %d and a global one of %d on %d data-parallel ranks do not divide each other; correct one of them"
                .formatted(samples, local, global, data));
      }
      int accumulated = global / (local * data);
      if (ranks > 1 && accumulated > 1) {
        throw wrong(
            "training.global_batch_size",
            "a step of %d pipeline flushes is nothing that plans have; raise local_batch_size to %d"
                .formatted(accumulated, local * accumulated));
      }
      return new StageGrid.Batching(global / (samples * data), samples);
    }

    /** FSDP shards over context-parallel ranks, too. */
    private ZeroStage sharding(int sharded, int ranks) {
      if (sharded == 1) {
        return ZeroStage.NOTHING;
      }
      String key = "parallelism.fsdp_reshard_after_forward";
      String policy = tables.value(key).map(TomlTables.Entry::text).orElse("default");
      return switch (policy) {
        case "always" -> ZeroStage.PARAMETERS;
        case "never" -> ZeroStage.GRADIENTS;
        case "default" -> ranks > 1 ? ZeroStage.GRADIENTS : ZeroStage.PARAMETERS;
        default ->
            throw wrong(
                key,
                "%s is %s; known are default, always and never"
                    .formatted(key, ShownText.of(policy)));
      };
    }

    /** The last layer of each stage. */
    private List<Integer> ends(int ranks) {
      Optional<TomlTables.Entry> list = tables.list(PARTS);
      if (list.isEmpty() || ranks == 1) {
        if (ranks > 1) {
          throw BadInputException.in(
              file,
              "has pipelines, but does not say their stages; add module_fqns_per_model_part to [parallelism]");
        }
        return List.of(TorchtitanToml.read(file).shape().stack().size() + 1);
      }
      List<Integer> ends = new ArrayList<>();
      int last = -1;
      String text = list.get().text();
      Matcher stage = STAGE.matcher(text);
      while (stage.find()) {
        Matcher module = MODULE.matcher(stage.group(1));
        while (module.find()) {
          last = next(module.group(1), last, list.get().line());
        }
        ends.add(last);
      }
      return ends;
    }

    /** The position of a module that follows another one in the chain. */
    private int next(String module, int last, int line) {
      Matcher block = BLOCK.matcher(module);
      int position =
          block.matches()
              ? Integer.parseInt(block.group(1)) + 1
              : switch (module) {
                case "tok_embeddings" -> 0;
                case "norm" -> last; // with the head
                case "output", "lm_head" -> last + 1;
                default -> -1;
              };
      boolean follows = position == last + 1 || module.equals("norm");
      if (!follows) {
        throw BadInputException.at(
            file,
            line,
            "module_fqns_per_model_part has %s after layer %d; write tok_embeddings, layers.0 and so on, norm, output in order"
                .formatted(ShownText.of(module), last));
      }
      return position;
    }

    private List<List<LayerRange>> recomputed(StageGrid grid) {
      String mode = tables.value(MODE).map(TomlTables.Entry::text).orElse("none");
      if (!mode.equals("none") && !mode.equals("full")) {
        throw wrong(
            MODE,
            "%s is %s; plans recompute whole layers, so that none and full are read"
                .formatted(MODE, ShownText.of(mode)));
      }
      List<List<LayerRange>> all = new ArrayList<>();
      int head = grid.ends().get(grid.ends().size() - 1);
      for (int s = 0; s < grid.ends().size(); s++) {
        int first = Math.max(1, grid.first(s));
        int blocks = Math.min(grid.ends().get(s), head - 1) - first + 1;
        all.add(
            mode.equals("full")
                ? RecomputeForm.runs(first, blocks, 1, Math.max(0, blocks))
                : List.of());
      }
      return all;
    }
  }
}

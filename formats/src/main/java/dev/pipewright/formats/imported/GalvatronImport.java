package dev.pipewright.formats.imported;

import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.ShownText;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A configuration of Galvatron: degrees, sharding and recomputation of each transformer block. It
 * does not say its network, nor its devices.
 *
 * <p>Source: Hetu-Galvatron, {@code galvatron/utils/config_utils.py}, of 2026.
 */
final class GalvatronImport implements PlanImport {
  private static final Map<String, PipelinePolicy> SCHEDULES = new LinkedHashMap<>();
  private static final Map<String, ZeroStage> USUAL = new LinkedHashMap<>();

  static {
    SCHEDULES.put("pipedream_flush", PipelinePolicy.A);
    SCHEDULES.put(PipelinePolicy.ALL.scheduleName(), PipelinePolicy.ALL); // their word is ours
    USUAL.put("ddp", ZeroStage.NOTHING);
    USUAL.put("zero2", ZeroStage.GRADIENTS);
    USUAL.put("zero3", ZeroStage.PARAMETERS);
  }

  @Override
  public String words() {
    return "a configuration of Galvatron";
  }

  @Override
  public boolean begins(String start) {
    return start.startsWith("{") && start.contains("\"pp_deg\"");
  }

  @Override
  public PlanFile<PipelinePlan> read(Path file, OptionalInt devices) {
    Fields fields = Tree.json(file).object();
    int world = StageGrid.devices(file, devices, "configurations of Galvatron");
    return new PlanFile<>(new Reading(file, fields).plan(world), MadeFor.UNKNOWN, Optional.empty());
  }

  /** One file's plan. */
  private record Reading(Path file, Fields fields) {
    PipelinePlan plan(int world) {
      int ranks = fields.required("pp_deg").count(1);
      List<Integer> tensor = numbers("tp_sizes_enc", 1);
      int blocks = tensor.size();
      refuseUnknown(blocks);
      List<Integer> division =
          fields.optional("pp_division").isPresent()
              ? numbers("pp_division", 1)
              : StageGrid.even(blocks, ranks);
      int sum = division.stream().mapToInt(Integer::intValue).sum();
      if (division.size() != ranks || sum != blocks) {
        throw fields
            .node()
            .wrong(
                "pp_division has %d stages of %d blocks, but pp_deg is %d and tp_sizes_enc has %d; make them agree"
                    .formatted(division.size(), sum, ranks, blocks));
      }
      if (world % ranks != 0) {
        throw fields
            .required("pp_deg")
            .wrong(
                "%d devices are no multiple of pp_deg %d; give as many devices with --cluster"
                    .formatted(world, ranks));
      }
      int perRank = world / ranks;
      List<Parallelism> divisions = divisions(tensor, division, perRank);
      int chunks = fields.optional("chunks").map(node -> node.count(1)).orElse(1);
      int global = fields.required("global_bsz").count(Range.SAMPLES);
      int data = perRank / divisions.get(0).parts();
      if (global % Math.multiplyFull(chunks, data) != 0) {
        throw fields
            .required("global_bsz")
            .wrong(
                "global_bsz %d is no multiple of chunks %d times %d data-parallel ranks; correct one of them"
                    .formatted(global, chunks, data));
      }
      StageGrid grid =
          new StageGrid(file, ranks, perRank, StageGrid.ends(division), divisions, false);
      PipelinePolicy policy =
          fields
              .optional("pipeline_type")
              .map(node -> node.word(SCHEDULES))
              .orElse(PipelinePolicy.ALL);
      return grid.plan(
          policy.scheduleName(),
          new StageGrid.Batching(chunks, global / (chunks * data)),
          new StageGrid.Keeping(true, sharding(blocks), recomputed(division)));
    }

    /** What plans do not have: other sequences per device, and split sequences or experts. */
    private void refuseUnknown(int blocks) {
      refuse("use_sp", 0, blocks);
      refuse("cp_sizes_enc", 1, blocks);
      refuse("ep_sizes_enc", 1, blocks);
      refuse("tp_consecutive_flags", 1, blocks);
    }

    private void refuse(String key, int usual, int blocks) {
      if (fields.optional(key).isEmpty()) {
        return;
      }
      List<Integer> numbers = each(key, blocks);
      if (numbers.stream().anyMatch(number -> number != usual)) {
        throw fields
            .required(key)
            .wrong(
                "%s says other than %d for a block, which plans do not have; write %d for all"
                    .formatted(key, usual, usual));
      }
    }

    private List<Integer> each(String key, int blocks) {
      List<Integer> numbers = numbers(key, 0);
      if (numbers.size() != blocks) {
        throw fields
            .required(key)
            .wrong(
                "%s has %d numbers, but tp_sizes_enc has %d; write one for each block"
                    .formatted(key, numbers.size(), blocks));
      }
      return numbers;
    }

    private List<Integer> numbers(String key, int least) {
      Node node = fields.required(key);
      List<Integer> numbers = new ArrayList<>();
      for (String part : node.text().split(",", -1)) {
        String digits = part.strip();
        if (!digits.matches("\\d{1,7}") || Integer.parseInt(digits) < least) {
          throw node.wrong(
              "%s holds \"%s\"; expected whole numbers >= %d with commas between"
                  .formatted(key, ShownText.of(digits), least));
        }
        numbers.add(Integer.parseInt(digits));
      }
      return numbers;
    }

    private List<Parallelism> divisions(List<Integer> tensor, List<Integer> division, int perRank) {
      List<Parallelism> all = new ArrayList<>();
      int block = 0;
      for (int count : division) {
        List<Integer> own = tensor.subList(block, block + count);
        int parts = own.get(0);
        if (own.stream().anyMatch(each -> each != parts) || perRank % parts != 0) {
          throw fields
              .required("tp_sizes_enc")
              .wrong(
                  "tp_sizes_enc says %s for the blocks of stage %d on %d devices; plans have one degree for a stage, which divides its devices"
                      .formatted(
                          own.stream().distinct().map(String::valueOf).toList(),
                          all.size(),
                          perRank));
        }
        all.add(parts == 1 ? Parallelism.NONE : Parallelism.of(Parallelism.Kind.TENSOR, parts));
        block += count;
      }
      return all;
    }

    private ZeroStage sharding(int blocks) {
      ZeroStage usual =
          fields
              .optional("default_dp_type")
              .map(node -> node.word(USUAL))
              .orElse(ZeroStage.NOTHING);
      if (fields.optional("dp_types_enc").isEmpty()) {
        return usual;
      }
      List<Integer> types = each("dp_types_enc", blocks);
      if (types.stream().distinct().count() > 1) {
        throw fields
            .required("dp_types_enc")
            .wrong(
                "dp_types_enc shards some blocks only, which plans do not have; write 0 or 1 for all");
      }
      return types.get(0) == 1 ? ZeroStage.PARAMETERS : usual;
    }

    private List<List<LayerRange>> recomputed(List<Integer> division) {
      int blocks = division.stream().mapToInt(Integer::intValue).sum();
      List<Integer> marks =
          fields.optional("checkpoint").isPresent()
              ? each("checkpoint", blocks)
              : Collections.nCopies(blocks, 0);
      List<List<LayerRange>> all = new ArrayList<>();
      int block = 0;
      for (int count : division) {
        List<LayerRange> runs = new ArrayList<>();
        for (int end = block + count; block < end; block++) {
          if (marks.get(block) == 1) {
            runs.add(new LayerRange(block + 1, block + 1));
          }
        }
        all.add(runs);
      }
      return all;
    }
  }
}

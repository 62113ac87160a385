package dev.pipewright.formats.export;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The JSON of Galvatron's search, which its runtime takes as {@code galvatron_config_path}: a
 * number for each transformer block.
 *
 * <p>Source: Hetu-Galvatron, {@code galvatron/utils/config_utils.py} and the configurations of its
 * models, of 2026.
 */
final class GalvatronExport implements PlanExport {
  private static final String FILE = "galvatron_config.json";

  /** Galvatron's word is ours. */
  private static final String GPIPE = PipelinePolicy.ALL.scheduleName();

  private static final List<ScheduleRules.Known> SCHEDULES =
      List.of(
          new ScheduleRules.Known(PipelinePolicy.A.scheduleName(), "pipedream_flush"),
          new ScheduleRules.Known(GPIPE, GPIPE));

  @Override
  public String framework() {
    return "Galvatron";
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
        GridRules.equalRanks(false),
        ScheduleRules.among(SCHEDULES),
        GridRules.blocksEverywhere(),
        GridRules.consecutive(false),
        GridRules.wholeSamples(),
        StateRules.sharding(
            plan -> List.of(ZeroStage.NOTHING, ZeroStage.GRADIENTS, ZeroStage.PARAMETERS), ""),
        StateRules.overlap(plan -> Optional.of(true)),
        RecomputeForm.someBlocks());
  }

  @Override
  public List<String> fileNames() {
    return List.of(FILE);
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    return List.of(
        "add what only you know to Galvatron's command: data, tokenizer, learning rate and the checkpoints' folders");
  }

  /** Its file is JSON, which has no comments. */
  @Override
  public List<String> notes(ExportSubject plan) {
    return toAdd(plan);
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return new LaunchCommand("train_dist.py --galvatron_config_path " + FILE);
  }

  @Override
  public List<ExportedFile> files(ExportSubject exported) {
    PipelinePlan plan = exported.plan();
    boolean parameters = plan.sharding() == ZeroStage.PARAMETERS;
    List<Integer> tensor = new ArrayList<>();
    List<Integer> recomputed = new ArrayList<>();
    List<Integer> division = new ArrayList<>();
    for (int s = 0; s < plan.stages().size(); s++) {
      StagePlan stage = plan.stages().get(s);
      division.add(exported.blocks(s));
      for (int block = 0; block < exported.blocks(s); block++) {
        int layer = exported.firstBlock(s) + 1 + block;
        tensor.add(stage.parallelism().parts());
        recomputed.add(stage.recomputed().contains(new LayerRange(layer, layer)) ? 1 : 0);
      }
    }
    int last = plan.stages().size() - 1;
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("pp_deg", exported.ranks());
    object.put("tp_sizes_enc", joined(tensor));
    object.put("tp_consecutive_flags", each(tensor, 1));
    object.put("dp_types_enc", each(tensor, parameters ? 1 : 0));
    object.put("use_sp", each(tensor, 0));
    object.put("checkpoint", joined(recomputed));
    object.put("global_bsz", plan.globalBatch());
    object.put("chunks", plan.microBatches());
    object.put("pp_division", joined(division));
    object.put("pipeline_type", ScheduleRules.theirs(SCHEDULES, exported).orElseThrow());
    object.put("default_dp_type", plan.sharding() == ZeroStage.NOTHING ? "ddp" : "zero2");
    object.put("vtp", Math.min(tensor.get(0), plan.stages().get(last).parallelism().parts()));
    object.put("vsp", 0);
    object.put("embed_sdp", parameters ? 1 : 0);
    return List.of(new ExportedFile(FILE, JsonText.of(object)));
  }

  private static String joined(List<Integer> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private static String each(List<Integer> like, int number) {
    return joined(like.stream().map(any -> number).toList());
  }
}

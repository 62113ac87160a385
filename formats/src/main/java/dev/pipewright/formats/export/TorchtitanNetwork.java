package dev.pipewright.formats.export;

import dev.pipewright.formats.transformer.TorchtitanToml;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What torchtitan can say of a plan, and how it names modules; shared by TOML and recipes. */
final class TorchtitanNetwork {
  static final List<ScheduleRules.Known> SCHEDULES =
      List.of(
          new ScheduleRules.Known(PipelinePolicy.A.scheduleName(), "1F1B"),
          new ScheduleRules.Known(PipelinePolicy.ALL.scheduleName(), "GPipe"),
          new ScheduleRules.Known(Interleaved.NAME, "Interleaved1F1B"),
          new ScheduleRules.Known(LoopedBreadthFirst.NAME, "LoopedBFS"),
          new ScheduleRules.Known(InterleavedZeroBubble.NAME, "InterleavedZeroBubble"),
          new ScheduleRules.Known(DualPipeV.NAME, "DualPipeV"));

  private TorchtitanNetwork() {}

  static List<ExportRule> rules() {
    return List.of(
        GridRules.decoder(),
        GridRules.withoutPrediction(),
        GridRules.kinds(List.of(Kind.SEQUENCE, Kind.CONTEXT, Kind.EXPERT)),
        GridRules.equalRanks(true),
        ScheduleRules.among(SCHEDULES),
        GridRules.consecutive(false),
        GridRules.wholeSamples(),
        StateRules.sharding(TorchtitanNetwork::shardings, ""),
        StateRules.overlap(plan -> Optional.of(true)),
        RecomputeForm.allBlocks());
  }

  /** Replicas keep all states only where nothing else divides the network. */
  private static List<ZeroStage> shardings(ExportSubject exported) {
    boolean alone = exported.ranks() == 1 && exported.tensor() == 1;
    return alone
        ? List.of(ZeroStage.NOTHING, ZeroStage.GRADIENTS, ZeroStage.PARAMETERS)
        : List.of(ZeroStage.GRADIENTS, ZeroStage.PARAMETERS);
  }

  /** Modules of each stage. */
  static List<String> stages(ExportSubject exported, String head) {
    List<String> stages = new ArrayList<>();
    for (int s = 0; s < exported.plan().stages().size(); s++) {
      List<String> modules = new ArrayList<>();
      if (exported.embeds(s)) {
        modules.add(PythonText.quoted("tok_embeddings"));
      }
      for (int block = 0; block < exported.blocks(s); block++) {
        modules.add(PythonText.quoted("layers." + (exported.firstBlock(s) + block)));
      }
      if (exported.scores(s)) {
        modules.add(PythonText.quoted("norm"));
        modules.add(PythonText.quoted(head));
      }
      stages.add(PythonText.list(modules));
    }
    return stages;
  }

  /** Whether all states of a data-parallel rank are kept by it. */
  static boolean replicated(ExportSubject exported) {
    return exported.plan().sharding() == ZeroStage.NOTHING;
  }

  /** Samples of a step on a data-parallel rank, or of a micro-batch where there is no pipeline. */
  static int localBatch(ExportSubject exported) {
    return exported.perDataRank() * (exported.ranks() > 1 ? exported.plan().microBatches() : 1);
  }

  static String reshard(ExportSubject exported) {
    return exported.plan().sharding() == ZeroStage.PARAMETERS ? "always" : "never";
  }

  static String schedule(ExportSubject exported) {
    return ScheduleRules.theirs(SCHEDULES, exported).orElseThrow();
  }

  /** torchtitan's model and flavor of the network; empty where it has none. */
  static Optional<TorchtitanToml.Flavor> flavor(ExportSubject exported) {
    return exported.shape().flatMap(TorchtitanToml::flavor);
  }

  static List<String> notes(ExportSubject exported) {
    return flavor(exported).isPresent()
        ? List.of()
        : List.of(
            "torchtitan has no network of the sizes of %s; register one as model \"custom\", flavor \"planned\""
                .formatted(exported.model()));
  }
}

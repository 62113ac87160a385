package dev.pipewright.formats.export;

import dev.pipewright.formats.transformer.MegatronLayout;
import dev.pipewright.formats.transformer.MegatronLayout.Kind;
import dev.pipewright.formats.transformer.MegatronLayoutText;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What Megatron-LM can say of a plan, shared by all forms of its settings. */
final class MegatronSteps {
  static final List<ScheduleRules.Known> SCHEDULES =
      List.of(
          new ScheduleRules.Known(PipelinePolicy.A.scheduleName(), "1F1B"),
          new ScheduleRules.Known(Interleaved.NAME, "interleaved 1F1B"));

  /** How context-parallel devices get each other's keys and values, as plans count it. */
  static final String KEYS = "all_gather"; // of `--cp-comm-type`; in a ring otherwise

  private MegatronSteps() {}

  static List<ExportRule> rules() {
    return List.of(
        GridRules.decoder(),
        predictionsTogether(),
        MegatronNetwork.rule(),
        optimizer(),
        GridRules.kinds(
            List.of(
                Parallelism.Kind.TENSOR,
                Parallelism.Kind.SEQUENCE,
                Parallelism.Kind.CONTEXT,
                Parallelism.Kind.EXPERT)),
        GridRules.equalRanks(true),
        ScheduleRules.among(SCHEDULES),
        GridRules.consecutive(true),
        GridRules.wholeSamples(),
        StateRules.sharding(MegatronSteps::shardings, " with pipelines or without overlap"),
        RecomputeForm.megatron());
  }

  /** All layers of multi-token prediction are in a rank's last stage, and in the same. */
  private static ExportRule predictionsTogether() {
    return exported -> {
      boolean several = exported.isDecoder() && exported.predictions() > 0;
      List<String> problems =
          several
              ? layout(exported)
                  .problems(
                      OptionalInt.of(exported.blocks()), OptionalInt.of(exported.predictions()))
              : List.of();
      return problems.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new Gap("stages whose layout it refuses: " + problems.get(0), Optional.empty()));
    };
  }

  /** It updates by Adam or by SGD. */
  private static ExportRule optimizer() {
    return exported ->
        exported.training().optimizer() == Optimizer.RMSPROP
            ? Optional.of(new Gap("the optimizer rmsprop (it has adam and sgd)", Optional.empty()))
            : Optional.empty();
  }

  /** Its FSDP for ZeRO 2 and 3 is written without pipelines only; it always overlaps. */
  private static List<ZeroStage> shardings(ExportSubject exported) {
    return exported.ranks() == 1 && exported.plan().overlapGradients()
        ? List.of(ZeroStage.values())
        : List.of(ZeroStage.NOTHING, ZeroStage.OPTIMIZER);
  }

  /** Whether stages are as Megatron makes them of the numbers of layers and ranks alone. */
  static boolean usualStages(ExportSubject exported) {
    int last = exported.plan().stages().size() - 1;
    return exported.chunks() == 1
        && exported.predictions() == 0
        && exported.blocksOfEach().isPresent()
        && exported.blocks(0) > 0
        && (last == 0 || (!exported.scores(0) && !exported.embeds(last)));
  }

  /** Stages as {@code --pipeline-model-parallel-layout} says them. */
  static MegatronLayout layout(ExportSubject exported) {
    List<List<Kind>> stages = new ArrayList<>();
    for (int s = 0; s < exported.plan().stages().size(); s++) {
      List<Kind> layers = new ArrayList<>();
      if (exported.embeds(s)) {
        layers.add(Kind.EMBEDDING);
      }
      layers.addAll(Collections.nCopies(exported.blocks(s), Kind.DECODER));
      layers.addAll(Collections.nCopies(exported.predictions(s), Kind.MTP));
      if (exported.scores(s)) {
        layers.add(Kind.LOSS);
      }
      stages.add(layers);
    }
    return new MegatronLayout(stages, exported.ranks());
  }

  /** The layout's text; empty where Megatron makes the same stages without it. */
  static Optional<String> layoutText(ExportSubject exported) {
    return usualStages(exported)
        ? Optional.empty()
        : Optional.of(MegatronLayoutText.of(layout(exported)));
  }

  /** Devices that divide layers by heads and inner features. */
  static int tensor(ExportSubject exported) {
    return exported.parallelism().featureParts();
  }

  /** Devices that divide the tokens of sequences. */
  static int context(ExportSubject exported) {
    return exported.parallelism().tokenParts();
  }

  /** Devices that divide experts: ranks that divide tokens or features, or data-parallel ones. */
  static int expert(ExportSubject exported) {
    return exported.parallelism().expertParts();
  }

  static boolean sequenceParallel(ExportSubject exported) {
    return exported.parallelism().several()
        && exported.parallelism().ofCopy().kind() == Parallelism.Kind.SEQUENCE;
  }

  /** Whether pipelines are numbered one by one, not pipeline rank by pipeline rank. */
  static boolean byReplica(ExportSubject exported) {
    return !GridRules.isConsecutive(exported);
  }

  static List<String> notes(ExportSubject exported) {
    List<String> notes = new ArrayList<>();
    exported
        .shape()
        .flatMap(shape -> shape.prediction())
        .filter(extra -> exported.predictions() == 0)
        .ifPresent(extra ->
            notes.add(
                "the plan has no stage for multi-token prediction, so the arguments leave it out"));
    return notes;
  }
}

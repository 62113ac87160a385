package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.schedule.ScheduleNames;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.plan.Recompute;
import dev.pipewright.predict.paradl.ParallelDegrees;
import dev.pipewright.predict.paradl.PipelineSchedule;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code predict} is to take of the strategies that are priced as plans. */
public final class DegreeFlags {
  private static final Map<String, List<Recompute>> RECOMPUTE = new LinkedHashMap<>();

  static {
    RECOMPUTE.put("none", List.of(Recompute.NONE));
    RECOMPUTE.put("full", List.of(Recompute.SELECTIVE));
    RECOMPUTE.put("stage-input", List.of(Recompute.STAGE_INPUT));
    RECOMPUTE.put("auto", List.of(Recompute.NONE, Recompute.SELECTIVE, Recompute.STAGE_INPUT));
  }

  private static final String SELECTIVE = "selective"; // attention's scores only

  @Option(
      names = {"--tensor", "--tensor-parallel"},
      paramLabel = "T",
      description =
          "Devices that divide each transformer block; every number up to a node's otherwise.")
  private @Nullable Integer tensor;

  @Option(
      names = {"--pipeline", "--pipeline-parallel"},
      paramLabel = "P",
      description = "Stages of pipelines; with transformer blocks every number otherwise.")
  private @Nullable Integer pipeline;

  @Option(
      names = {"--data", "--data-parallel"},
      paramLabel = "D",
      description = "Copies of the network in hybrids with pipelines or transformer blocks.")
  private @Nullable Integer data;

  @Option(
      names = "--micro-batch",
      paramLabel = "N",
      description =
          "Samples of a micro-batch of each copy; with transformer blocks every power of two"
              + " otherwise.")
  private @Nullable Integer microBatch;

  @Option(
      names = "--recompute",
      paramLabel = "MODE",
      defaultValue = "none",
      description =
          "none, full (each layer keeps its input), selective (all but attention's scores),"
              + " stage-input, or auto (the fastest that fits): of pipelines and divided"
              + " transformer blocks.")
  private String recompute = "none";

  @Option(
      names = "--schedule",
      paramLabel = "NAME",
      description =
          "The schedule of pipelines: any with flushes that depends on counts alone; of a transformer's"
              + " stated layout any with flushes and one copy of each stage. Default: 1f1b.")
  private @Nullable String schedule;

  @Option(
      names = {"--chunks", "--interleave"},
      paramLabel = "V",
      description = "Stages of each rank in schedules that leave it open, like interleaved.")
  private @Nullable Integer chunks;

  /** Whether a degree is stated: of tensor, pipeline or data parallelism. */
  boolean stateDegree() {
    return tensor != null || pipeline != null || data != null;
  }

  /** Whether it is said how each layer and the sequence of layers are divided. */
  boolean stateLayout() {
    return tensor != null && pipeline != null;
  }

  int tensor() {
    return AtLeast.few("--tensor", tensor, 1);
  }

  int pipelineStages() {
    return AtLeast.few("--pipeline", pipeline, 1);
  }

  OptionalInt data() {
    return AtLeast.optional("--data", data);
  }

  int microBatch() {
    return AtLeast.few("--micro-batch", microBatch, 1);
  }

  int interleave() {
    return AtLeast.few("--interleave", chunks, 1);
  }

  /** What a transformer's backward pass recomputes. */
  RecomputePolicy recomputePolicy() {
    return switch (recompute) {
      case "none" -> new RecomputePolicy.None();
      case "full" -> new RecomputePolicy.Full(0, false);
      case SELECTIVE -> new RecomputePolicy.Selective(Set.of(RecomputePolicy.Module.CORE_ATTN));
      default ->
          throw new BadInputException(
              "--recompute: '%s' does not go with a stated layout; one of none, full, selective"
                  .formatted(recompute));
    };
  }

  /** The schedule of a stated layout; empty for 1F1B, interleaved or not. */
  Optional<ScheduleEntry> layoutSchedule() {
    boolean whole = chunks == null || chunks == 1;
    String usual = whole ? PipelinePolicy.A.scheduleName() : Interleaved.NAME;
    @Nullable String name = schedule;
    if (name == null || name.equals(usual)) {
      return Optional.empty();
    }
    List<String> known =
        ScheduleCatalog.entries().stream()
            .filter(ScheduleEntry::isSynchronousPipeline)
            .map(ScheduleEntry::name)
            .toList();
    return Optional.of(
        ScheduleCatalog.find(name)
            .filter(found -> known.contains(found.name()))
            .orElseThrow(() ->
                new BadInputException(
                    "--schedule: %s is no pipeline that `predict` prices; %s"
                        .formatted(name, Suggestion.of(name, known)))));
  }

  /** Chunks of each rank under a schedule. */
  int chunks(ScheduleEntry entry) {
    OptionalInt wanted = AtLeast.optional("--chunks", chunks);
    return ScheduleNames.find(entry.name()).chunks(entry.name(), wanted);
  }

  /** Throws {@link BadInputException} where there is no such schedule. */
  PipelineSchedule pipeline() {
    if (schedule == null && chunks == null) {
      return PipelineSchedule.of(PipelinePolicy.A);
    }
    String name = schedule == null ? Interleaved.NAME : schedule;
    OptionalInt wanted = AtLeast.optional("--chunks", chunks);
    for (PipelinePolicy policy : PipelinePolicy.values()) {
      if (policy.scheduleName().equals(name)) {
        ScheduleNames.find(name).chunks(name, wanted); // refuses more than one
        return PipelineSchedule.of(policy);
      }
    }
    List<String> known =
        ScheduleCatalog.entries().stream()
            .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
            .map(ScheduleEntry::name)
            .toList();
    ScheduleEntry entry =
        ScheduleCatalog.find(name)
            .filter(found -> known.contains(found.name()))
            .orElseThrow(() ->
                new BadInputException(
                    "--schedule: %s is no pipeline that `predict` prices; %s"
                        .formatted(name, Suggestion.of(name, known))));
    return PipelineSchedule.of(entry, ScheduleNames.find(name).chunks(name, wanted));
  }

  /** Throws {@link BadInputException} where a flag makes no sense. */
  ParallelDegrees of() {
    List<Recompute> ways = RECOMPUTE.get(recompute);
    if (recompute.equals(SELECTIVE)) {
      throw new BadInputException(
          "--recompute: selective is predicted where a transformer's layout is stated; give --tensor and --pipeline, or full");
    }
    if (ways == null) {
      throw new BadInputException(
          "--recompute: unknown '%s'; %s"
              .formatted(recompute, Suggestion.of(recompute, List.copyOf(RECOMPUTE.keySet()))));
    }
    return new ParallelDegrees(
        AtLeast.optional("--tensor", tensor),
        AtLeast.optional("--pipeline", pipeline),
        AtLeast.optional("--data", data),
        AtLeast.optional("--micro-batch", microBatch),
        pipeline(),
        ways);
  }
}

package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.plan.Recompute;
import dev.pipewright.predict.paradl.ParallelDegrees;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code predict} is to take of the strategies that are priced as plans. */
final class DegreeFlags {
  private static final Map<String, List<Recompute>> RECOMPUTE = new LinkedHashMap<>();

  static {
    RECOMPUTE.put("none", List.of(Recompute.NONE));
    RECOMPUTE.put("full", List.of(Recompute.SELECTIVE));
    RECOMPUTE.put("stage-input", List.of(Recompute.STAGE_INPUT));
    RECOMPUTE.put("auto", List.of(Recompute.NONE, Recompute.SELECTIVE, Recompute.STAGE_INPUT));
  }

  @Option(
      names = "--tensor",
      paramLabel = "T",
      description =
          "Devices that divide each transformer block; every number up to a node's otherwise.")
  private @Nullable Integer tensor;

  @Option(
      names = "--pipeline",
      paramLabel = "P",
      description = "Stages of pipelines; with transformer blocks every number otherwise.")
  private @Nullable Integer pipeline;

  @Option(
      names = "--data",
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
          "none, full (each layer keeps its input), stage-input, or auto (the fastest that fits):"
              + " of pipelines and divided transformer blocks.")
  private String recompute = "none";

  /** Throws {@link BadInputException} where a flag makes no sense. */
  ParallelDegrees of() {
    List<Recompute> ways = RECOMPUTE.get(recompute);
    if (ways == null) {
      throw new BadInputException(
          "--recompute: unknown '%s'; %s"
              .formatted(recompute, Suggestion.of(recompute, List.copyOf(RECOMPUTE.keySet()))));
    }
    return new ParallelDegrees(
        PredictCommand.optional("--tensor", tensor),
        PredictCommand.optional("--pipeline", pipeline),
        PredictCommand.optional("--data", data),
        PredictCommand.optional("--micro-batch", microBatch),
        ways);
  }
}

package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.formats.file.BadInputException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a training run keeps, and how often. */
public final class TrainKeeping {
  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write metrics.jsonl, tensorboard/, the output of each worker in logs/, and"
              + " checkpoints/.")
  @Nullable Path out;

  @Option(
      names = "--checkpoint-every",
      paramLabel = "N",
      description = "Write a checkpoint into --out every N steps, and at the end.")
  @Nullable Integer checkpointEvery;

  @Option(
      names = "--keep",
      paramLabel = "K",
      description = "Keep the last K checkpoints. Default: 3.")
  @Nullable Integer kept;

  @Option(
      names = "--resume",
      paramLabel = "DIR",
      description =
          "Continue from a checkpoint, or from the last one in DIR. Plan, batch and number of"
              + " workers may differ from the run that wrote it.")
  @Nullable Path resume;

  @Option(
      names = "--evaluate-every",
      paramLabel = "N",
      description = "Evaluate on the held-out set every N steps and at the end.")
  @Nullable Integer evaluateEvery;

  private static final int USUALLY_KEPT = 3;

  Keeping keeping() {
    if (checkpointEvery != null && out == null) {
      throw new BadInputException("--checkpoint-every: there is no folder for it; add --out DIR");
    }
    if (kept != null && checkpointEvery == null) {
      throw new BadInputException("--keep: no checkpoints are written; add --checkpoint-every N");
    }
    return new Keeping(
        absolute(out),
        AtLeast.one("--checkpoint-every", checkpointEvery, 0),
        AtLeast.one("--keep", kept, USUALLY_KEPT),
        absolute(resume));
  }

  int evaluateEvery() {
    return AtLeast.one("--evaluate-every", evaluateEvery, 0);
  }

  private static Optional<String> absolute(@Nullable Path path) {
    return Optional.ofNullable(path).map(folder -> folder.toAbsolutePath().normalize().toString());
  }
}

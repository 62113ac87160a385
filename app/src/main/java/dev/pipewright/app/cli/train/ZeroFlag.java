package dev.pipewright.app.cli.train;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.ZeroStage;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What replicas shard in place of what a plan says. */
final class ZeroFlag {
  @Option(
      names = "--zero",
      paramLabel = "N",
      description =
          "ZeRO stage for data-parallel replicas: 1 shards the optimizer state, 2 also"
              + " gradients, 3 also parameters. Default: the plan's, or 0.")
  @Nullable Integer level;

  /** The stage, where one is asked for. */
  Optional<ZeroStage> asked() {
    return Optional.ofNullable(level)
        .map(number ->
            ZeroStage.of(number)
                .orElseThrow(() ->
                    new BadInputException(
                        "--zero: there are levels 0 to 3, not %d; give one of them"
                            .formatted(number))));
  }
}

package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.formats.file.BadInputException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** PipeDream's way of naming a cluster. */
final class LevelFlags {
  @Option(
      names = "--levels",
      paramLabel = "N[,N…]",
      description =
          "For pipedream instead of --cluster: devices of a machine, machines, and so on, innermost"
              + " first.")
  private @Nullable String levels;

  @Option(
      names = "--bandwidths",
      paramLabel = "R[,R…]",
      description = "Bytes per second between two units of each level, like 25e9,1e9.")
  private @Nullable String bandwidths;

  /**
   * The levels that are given instead of a cluster; empty where there are none. Throws {@link
   * BadInputException} where they contradict {@code --cluster}.
   */
  Optional<Levels> levels(ModelArgument arguments) {
    if ((levels == null) != (bandwidths == null)) {
      throw new BadInputException(
          levels == null
              ? "--bandwidths: says nothing without --levels; add it, like 4,4"
              : "--levels: says nothing without --bandwidths; add it, like 25e9,1e9");
    }
    if (levels == null || bandwidths == null) {
      return Optional.empty();
    }
    if (arguments.cluster != null) {
      throw new BadInputException("--levels: names a cluster as --cluster does; give one of them");
    }
    return Optional.of(Levels.parse(levels, bandwidths));
  }
}

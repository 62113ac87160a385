package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.Costed;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** PipeDream's way of naming a cluster. */
public final class PipeDreamFlags {
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

  @Option(
      names = "--no-activation-transfer",
      description =
          "Charge no activations between pipedream's stages, as its program usually does.")
  private boolean noTransfer;

  /** Plans on the levels, or on the cluster where there are none. */
  PipeDreamAnswer answer(
      String model, ModelArgument arguments, SynchronousFlags flags, SearchDeadline patience) {
    if ((levels == null) != (bandwidths == null)) {
      throw new BadInputException(
          levels == null
              ? "--bandwidths: says nothing without --levels; add it, like 4,4"
              : "--levels: says nothing without --bandwidths; add it, like 25e9,1e9");
    }
    if (levels != null && bandwidths != null) {
      if (arguments.cluster != null) {
        throw new BadInputException(
            "--levels: names a cluster as --cluster does; give one of them");
      }
      Levels parsed = Levels.parse(levels, bandwidths);
      return PipeDreamAnswer.ofFile(model, arguments, flags, parsed, !noTransfer, patience);
    }
    if (arguments.cluster == null) {
      throw new BadInputException(
          "no cluster given; add --cluster, or --levels and --bandwidths like 4,4 and 25e9,1e9");
    }
    int miniBatch = flags.globalBatch();
    Costed costed = arguments.costed(model, Optional.empty(), OptionalInt.empty(), miniBatch);
    return PipeDreamAnswer.of(
        PipeDream2bwAnswer.madeFor(costed, arguments, miniBatch),
        costed.costs(),
        OptionalInt.of(miniBatch),
        Levels.of(costed.workload().cluster()),
        !noTransfer,
        flags.stages(costed),
        patience);
  }
}

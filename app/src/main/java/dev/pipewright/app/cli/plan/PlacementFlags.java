package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.plan.PlacementAnswer.Options;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import picocli.CommandLine.Option;

/** What the placement of operators may look like. */
public final class PlacementFlags {
  @Option(
      names = "--linearize",
      description = "For placement: cut one order of the operators only, where there are too many.")
  private boolean linearize;

  @Option(
      names = "--non-contiguous",
      description = "For placement: a device may hold operators that do not follow each other.")
  private boolean nonContiguous;

  PlacementAnswer answer(String model, SearchDeadline patience) {
    return PlacementAnswer.of(new Options(model, linearize, nonContiguous), patience);
  }
}

package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.plan.PlacementAnswer.Options;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.planner.catalog.OperatorPlanner;
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

  PlacementAnswer answer(OperatorPlanner planner, String model, SearchDeadline patience) {
    return PlacementAnswer.of(planner, new Options(model, linearize, nonContiguous), patience);
  }
}

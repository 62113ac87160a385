package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.OperatorPlan;
import dev.pipewright.plan.PatternPlan;
import dev.pipewright.plan.PipelinePlan;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A plan from a file with the prices of its parts: what commands ask of every kind of plan. */
public sealed interface GivenFile
    permits GivenStep, GivenAsynchronous, GivenPattern, GivenPlacement, GivenPeaks {
  /** The plan with the prices of its parts. */
  static GivenFile of(PlanArgument argument) {
    PlanFile<?> file = PlanImports.read(argument.path, argument.devices());
    return switch (file.plan()) {
      case PipelinePlan plan when argument.isMeasured(file.madeFor()) ->
          GivenPeaks.of(argument, file.of(plan));
      case PipelinePlan plan -> GivenStep.of(argument, file.of(plan));
      case AsynchronousPlan plan -> GivenAsynchronous.of(argument, file.of(plan));
      case PatternPlan plan -> GivenPattern.of(argument, file.of(plan));
      case OperatorPlan plan -> GivenPlacement.of(argument, file.of(plan));
    };
  }

  /** What keeps it from running on its cluster; empty where nothing does. */
  List<FileProblem> problems();

  /** Whose numbers a user compares with those of the file, by name. */
  Map<String, Object> counted();

  /** Runs it; throws {@link BadInputException} where it cannot run, but for memory. */
  SimulationResult simulate(SimulationOptions options);

  /** What it trains, and how fast; empty where it has no times, or cannot run. */
  default Optional<TrainingFigures> figures() {
    try {
      return simulate(new SimulationOptions()).figures();
    } catch (BadInputException e) {
      return Optional.empty(); // what is wrong is among the problems
    }
  }

  /** The files that its simulation can write; throws where it writes none. */
  List<String> files();
}

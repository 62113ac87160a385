package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.schedule.FileProblem;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A plan from a file with the prices of its parts: what commands ask of every kind of plan. */
public sealed interface GivenPlan
    permits GivenStep, GivenAsynchronous, GivenPattern, GivenPlacement, GivenPeaks {
  /** What keeps it from running on its cluster; empty where nothing does. */
  List<FileProblem> problems();

  /** Whose numbers a user compares with those of the file, by name. */
  Map<String, Object> counted();

  /** Runs it; throws {@link BadInputException} where it cannot run, but for memory. */
  SimulatedPlan simulate(SimulationOptions options);

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

package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.FileProblem;
import java.util.List;
import java.util.Map;

/** A plan from a file with the prices of its parts: what commands ask of every kind of plan. */
sealed interface GivenPlan
    permits GivenStep, GivenAsynchronous, GivenHybrid, GivenPattern, GivenPlacement, GivenPeaks {
  /** What keeps it from running on its cluster; empty where nothing does. */
  List<FileProblem> problems();

  /** What to know of it beside that, each one sentence: what else does not agree with it. */
  default List<String> remarks() {
    return List.of();
  }

  /** Whose numbers a user compares with those of the file, by name. */
  Map<String, Object> counted();

  /** Runs it; throws {@link BadInputException} where it cannot run, but for memory. */
  SimulatedPlan simulate(SimulationOptions options);

  /** The files that its simulation can write; throws where it writes none. */
  List<String> files();
}
